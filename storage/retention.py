"""What goes to save space: the token events of a run, or a run altogether."""

import shutil
import time
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa

from storage.answers import UnknownRunError, frame, one_row, run_id_of
from storage.column_spool import column_segments
from storage.database import rollback
from storage.exchange.removed import day_of
from storage.kept import checkpoint
from storage.owner import Owner
from storage.protocol import Mistake
from storage.records import TERMINAL

Cursor = duckdb.DuckDBPyConnection
DELETED = "deleted"
"""Folder in DATA for run folders whose rows are about to go; the next store finishes the job."""


def raw_sizes(cursor: Cursor) -> pa.Table:
    """Runs whose token events may be dropped, newest first: those that are final and have some.

    run_uid, name, since_epoch_ns, n_events, n_bytes (about: its share of the file in use).
    since_epoch_ns: when the run was here whole: its end, or its import, whatever the clock of a
    result file says.
    """
    return frame(
        cursor,
        """
        WITH used AS (SELECT used_blocks * block_size AS n FROM pragma_database_size()
                      WHERE database_name = current_database()),
        stored AS (SELECT greatest(count(*), 1) AS n FROM token_events)
        SELECT run_uid::VARCHAR AS run_uid, name,
            CASE WHEN source IS NULL THEN greatest(ended_epoch_ns, created_epoch_ns)
                 ELSE created_epoch_ns END AS since_epoch_ns, n_events,
            (n_events * ((SELECT n FROM used) / (SELECT n FROM stored)))::BIGINT AS n_bytes
        FROM runs WHERE is_final AND raw_dropped_epoch_ns IS NULL AND n_events > 0
        ORDER BY run_id DESC""",
    )


def keep_answers(owner: Owner, run: str) -> pa.Table:
    """From now on every exact answer about this run is kept, until its token events are dropped.

    One row: run_uid.
    """
    with owner.database.cursor() as cursor:
        run_id_of(cursor, run)
    owner.keep_answers_of.add(run)
    return one_row({"run_uid": run})


def drop_raw(owner: Owner, runs: list[str]) -> pa.Table:
    """Remove the token events of these runs; requests and summaries stay.  One row: n_events.

    The file keeps its size, and later runs use the space (`vacuum` shrinks it).  Raises StoreError,
    before anything is removed, if one of the runs is not stored whole yet.
    """
    n_events = 0
    with owner.database.writing, owner.database.cursor() as cursor:
        for run in runs:
            _refuse_unfinished(cursor, owner.data, run)
        for run in runs:
            n_events += _drop(cursor, run_id_of(cursor, run))
        owner.keep_answers_of.difference_update(runs)
        checkpoint(cursor, owner.data / "runs")  # from here on it cannot come back
    return one_row({"n_events": n_events})


def delete_run(owner: Owner, run: str) -> pa.Table:
    """Remove a run from every table, and its folder.  One row: n_events, n_requests.

    Killed at any moment, the run is there as before, or the next store finishes.  Raises StoreError
    while the run goes on.
    """
    folder = owner.data / "runs" / Path(run).name
    with owner.database.writing, owner.database.cursor() as cursor:
        _refuse_running(cursor, folder)
        gone = _aside(owner.data, folder) if folder.is_dir() else None
        counts = _forget(cursor, run)
        checkpoint(cursor, owner.data / "runs")
        if gone:
            shutil.rmtree(gone, ignore_errors=True)
    return one_row(counts)


def finish_deletions(cursor: Cursor, data: Path) -> None:
    """What a store killed while it deleted runs has left to do."""
    for folder in (data / DELETED).glob("*"):
        _forget(cursor, folder.name)
        shutil.rmtree(folder, ignore_errors=True)


def is_there(cursor: Cursor, run_id: int) -> bool:
    """Whether a run is in the tables (still)."""
    found = cursor.execute("SELECT 1 FROM runs WHERE run_id = $r", {"r": run_id}).fetchall()
    return bool(found)


def tables_of_runs(cursor: Cursor) -> list[str]:
    """Every table that holds rows of single runs; `runs` last."""
    rows = cursor.execute(
        "SELECT table_name FROM duckdb_tables() SEMI JOIN duckdb_columns() "
        "USING (database_name, table_name) WHERE NOT internal "
        "AND database_name = current_database() AND table_name IN (SELECT table_name "
        "FROM duckdb_columns() WHERE column_name = 'run_id') ORDER BY table_name = 'runs', 1"
    ).fetchall()
    return [name for (name,) in rows]


def _drop(cursor: Cursor, run_id: int) -> int:
    known = {"run_id": run_id}
    cursor.begin()
    try:
        n = cursor.execute("DELETE FROM token_events WHERE run_id = $run_id", known).fetchall()
        cursor.execute(
            "UPDATE runs SET raw_dropped_epoch_ns = $now WHERE run_id = $run_id",
            known | {"now": time.time_ns()},
        )
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise
    return n[0][0]


def _refuse_unfinished(cursor: Cursor, data: Path, run: str) -> None:
    is_final, dropped_ns = cursor.execute(
        "SELECT is_final, raw_dropped_epoch_ns FROM runs WHERE run_id = $run_id",
        {"run_id": run_id_of(cursor, run)},
    ).fetchall()[0]
    if dropped_ns is not None:
        raise Mistake(
            f"The token events of run {run} were removed on {day_of(dropped_ns)}, before this."
        )
    if not is_final or column_segments(data / "runs" / run / "spool"):
        raise Mistake(f"Run {run} is not stored whole yet; try again when it has ended.")


def _refuse_running(cursor: Cursor, folder: Path) -> None:
    rows = cursor.execute(
        "SELECT state FROM runs WHERE run_uid = try_cast($uid AS UUID)", {"uid": folder.name}
    ).fetchall()
    if not rows and not (folder / "plan.json").exists():
        raise UnknownRunError(folder.name)
    try:
        state = orjson.loads((folder / "status.json").read_bytes())["state"]
    except (OSError, ValueError, KeyError, TypeError):
        state = rows[0][0] if rows else "failed"
    if state not in TERMINAL and folder.is_dir():
        raise Mistake(f"Run {folder.name} is {state}; stop it first, then delete it.")


def _aside(data: Path, folder: Path) -> Path:
    (data / DELETED).mkdir(exist_ok=True)
    return folder.rename(data / DELETED / folder.name)


def _forget(cursor: Cursor, run: str) -> dict[str, int]:
    counts = {"n_events": 0, "n_requests": 0}
    try:
        run_id = run_id_of(cursor, run)
    except UnknownRunError:
        return counts
    cursor.begin()
    try:
        for table in tables_of_runs(cursor):
            n = cursor.execute(f"DELETE FROM {table} WHERE run_id = $r", {"r": run_id}).fetchall()
            counts |= {f"n_{table.removeprefix('token_')}": n[0][0]}
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise
    return {name: counts[name] for name in ("n_events", "n_requests")}
