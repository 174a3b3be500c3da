"""Answers that cost a scan of a final run's token events: asked once, kept in `kept_answers`.

A run that is reopened (a late segment) loses them with its next end (storage/finalise.py).
"""

import time
from collections.abc import Set
from typing import Any

import duckdb
import orjson
import pyarrow as pa

from storage.answers import run_id_of
from storage.database import Database, rollback
from storage.summarised import reads_events

Cursor = duckdb.DuckDBPyConnection
Args = dict[str, Any]

KEPT = frozenset({"gap_quantiles", "gap_clusters", "window_tokens", "stamp_bounds"})
WORTH_S = 0.05
"""CPU of an answer that is worth keeping: a commit costs 30 ms.  Of runs in `keep_all_of`, each."""


class Kept:
    """Looks answers up and keeps them; the server's threads share it."""

    def __init__(
        self,
        database: Database,
        worth_s: float = WORTH_S,
        keep_all_of: Set[str] = frozenset(),
    ) -> None:
        self._database = database
        self._worth_s = worth_s
        self._keep_all_of = keep_all_of

    def find(self, cursor: Cursor, name: str, args: Args) -> pa.Table | None:
        """The answer kept for a question, if there is one; raises UnknownRunError."""
        if name not in KEPT:
            return None
        asked = {"run_id": run_id_of(cursor, args["run"]), "question": _question(name, args)}
        found = cursor.execute(_FIND, asked).fetchall()
        return pa.ipc.open_stream(found[0][0]).read_all() if found else None

    def compute(self, cursor: Cursor, name: str, args: Args, query: Any) -> pa.Table:
        """The answer of a query, kept if it read a final run's events and was dear.

        If someone writes at the moment it is not kept, nor if the run has changed meanwhile.
        """
        if name not in KEPT or not reads_events(cursor, name, args):
            return query(cursor, **args)
        run_id = run_id_of(cursor, args["run"])
        before = _state(cursor, run_id)
        begin_s = time.thread_time()  # the database has no threads of its own
        answer: pa.Table = query(cursor, **args)
        is_dear = time.thread_time() - begin_s >= self._worth_s or args["run"] in self._keep_all_of
        if is_dear and before[0] and self._database.writing.acquire(blocking=False):
            try:
                self._keep(run_id, before, _question(name, args), answer)
            finally:
                self._database.writing.release()
        return answer

    def _keep(self, run_id: int, before: tuple[Any, ...], question: str, answer: pa.Table) -> None:
        row = {"run_id": run_id, "question": question, "answer": _bytes(answer)}
        with self._database.cursor() as cursor:
            if _state(cursor, run_id) != before or cursor.execute(_FIND, _key(row)).fetchall():
                return
            cursor.begin()
            try:
                cursor.execute("INSERT INTO kept_answers VALUES ($run_id, $question, $answer)", row)
                cursor.commit()
            except BaseException:
                rollback(cursor)
                raise


def _question(name: str, args: Args) -> str:
    """The same text for the same exact question, however it was put."""
    asked = {k: v for k, v in args.items() if v is not None and k not in ("run", "exact")}
    options = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY
    return orjson.dumps({"ask": name, **asked}, option=options).decode()


def _bytes(answer: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, answer.schema) as stream:
        stream.write_table(answer)
    return sink.getvalue().to_pybytes()


def _key(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("run_id", "question")}


def _state(cursor: Cursor, run_id: int) -> tuple[Any, ...]:
    """Whether the run is final, and what changes with everything that is loaded of it."""
    return cursor.execute(_STATE, {"run_id": run_id}).fetchall()[0]


_FIND = """
    SELECT answer FROM kept_answers JOIN runs USING (run_id)
    WHERE is_final AND run_id = $run_id AND question = $question"""  # reopened: an older answer
_STATE = """
    SELECT is_final, n_events, n_requests,
        (SELECT count(*) FROM seg_ledger WHERE run_id = $run_id)
    FROM runs WHERE run_id = $run_id"""
