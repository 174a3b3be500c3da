"""Is everything in the data folder whole, and does it agree?  Sentences, each with its weight."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import orjson
import pyarrow as pa
from pyarrow import json

from storage.column_spool import COUNTS_SEQ, column_segments
from storage.intake import is_uid, least_free_bytes
from storage.kept import spools_with_kept
from storage.opening import NAME, first_line
from storage.owner import Owner
from storage.retention import tables_of_runs
from storage.wal import kept_logs

Cursor = duckdb.DuckDBPyConnection


class Finding(NamedTuple):
    """One sentence.  level: ok; note, worth knowing; fault, something is wrong."""

    level: str
    sentence: str


def check(owner: Owner) -> pa.Table:
    """Every finding, one row each: level (ok, note, fault), sentence.

    Reads every block of every table, so that their checksums are verified: its time grows with the
    file.
    """
    found = list(_files(owner))
    with owner.database.cursor() as cursor:
        tables = list(_tables(cursor))
        found += tables
        if all(finding.level != "fault" for finding in tables):
            for examine in _EXAMINED:
                found += examine(cursor)
            found += _folders(cursor, owner.data)
    lines = b"\n".join(orjson.dumps(finding._asdict()) for finding in found)
    return json.read_json(pa.BufferReader(lines))


def _files(owner: Owner) -> Iterator[Finding]:
    free, least = shutil.disk_usage(owner.data).free, least_free_bytes(owner.data)
    sentence = f"{_mib(free)} are free on the disk; the store loads nothing below {_mib(least)}."
    yield Finding("fault" if free < least else "note" if free < 2 * least else "ok", sentence)
    for note in owner.database.notes:
        yield Finding("note", note)
    for log in kept_logs(owner.data):
        yield Finding(
            "note", f"{log} is a damaged log that was kept; delete it if you miss nothing."
        )


def _tables(cursor: Cursor) -> Iterator[Finding]:
    rows = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    n_rows, faults = 0, 0
    for (table,) in rows:
        try:
            n_rows += cursor.execute(
                f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM {table}"
            ).fetchall()[0][0]
        except duckdb.FatalException:
            raise
        except duckdb.Error as error:
            faults += 1
            yield Finding(
                "fault",
                f"Table {table} cannot be read ({first_line(error)}): the file {NAME} is damaged.  "
                "Put a backup in its place; runs whose folders are whole are not read again from "
                "them, so export what still opens first.",
            )
    if not faults:
        yield Finding("ok", f"All {len(rows)} tables can be read: {n_rows:,} rows.")


def _size(cursor: Cursor) -> Iterator[Finding]:
    n_bytes, n_free, n_events, n_runs = cursor.execute(
        "SELECT total_blocks * block_size, free_blocks * block_size, "
        "(SELECT count(*) FROM token_events), (SELECT count(*) FROM runs) "
        "FROM pragma_database_size() WHERE database_name = current_database()"
    ).fetchall()[0]
    each = f", {(n_bytes - n_free) / n_events:.1f} bytes for each" if n_events > 100_000 else ""
    runs = f"{n_runs:,} {'run' if n_runs == 1 else 'runs'}"
    events = f"{n_events:,} {'token event' if n_events == 1 else 'token events'}"
    yield Finding("ok", f"{runs} with {events} in {_mib(n_bytes)}{each}.")
    if n_free > n_bytes // 4 and n_free > 64 << 20:
        yield Finding(
            "note", f"{_mib(n_free)} of it are unused; `headway db vacuum` gives them back."
        )


def _ledger(cursor: Cursor) -> Iterator[Finding]:
    """Runs without a line in the ledger were imported as tables; the next check goes by `runs`."""
    wrong = cursor.execute(
        f"""
        WITH told AS (SELECT run_id, sum(n_rows) FILTER (WHERE seq < {COUNTS_SEQ}) AS n
                      FROM seg_ledger GROUP BY run_id),
        events AS (SELECT run_id, count(*) AS n FROM token_events GROUP BY run_id),
        asked AS (SELECT run_id, count(*) AS n FROM requests GROUP BY run_id)
        SELECT run_uid::VARCHAR, coalesce(told.n, 0)::BIGINT,
            coalesce(events.n, 0) + coalesce(asked.n, 0)
        FROM runs JOIN told USING (run_id) LEFT JOIN events USING (run_id)
            LEFT JOIN asked USING (run_id)
        WHERE raw_dropped_epoch_ns IS NULL
            AND coalesce(told.n, 0) <> coalesce(events.n, 0) + coalesce(asked.n, 0)"""
    ).fetchall()
    for uid, told, stored in wrong:
        yield Finding(
            "fault",
            f"Run {uid} has {stored:,} rows of events and requests where its ledger tells of "
            f"{told:,}; do not believe its numbers.",
        )
    if not wrong:
        yield Finding("ok", "Every run has the rows that the ledger tells of.")


def _orphans(cursor: Cursor) -> Iterator[Finding]:
    for table in tables_of_runs(cursor):
        n = cursor.execute(
            f"SELECT count(*) FROM {table} ANTI JOIN runs USING (run_id)"
        ).fetchall()[0][0]
        if n:
            yield Finding("fault", f"{n:,} rows of {table} belong to no run.")


def _summaries(cursor: Cursor) -> Iterator[Finding]:
    wrong = cursor.execute(_DIFFERING).fetchall()
    for uid, what, told, counted in wrong:
        yield Finding(
            "fault",
            f"Run {uid}: its summaries tell of {told:,} {what}, its rows of {counted:,}; do not "
            "believe its numbers.",
        )
    if not wrong:
        yield Finding("ok", "The summaries of every run agree with its rows.")


def _damaged(cursor: Cursor) -> Iterator[Finding]:
    rows = cursor.execute(
        "SELECT run_uid::VARCHAR, n_damaged_segments FROM runs WHERE n_damaged_segments > 0"
    ).fetchall()
    for uid, n in rows:
        yield Finding(
            "fault",
            f"Run {uid} lacks {n} segments that could not be read; they are kept as "
            f"runs/{uid}/spool/damaged-*.",
        )


def _folders(cursor: Cursor, data: Path) -> Iterator[Finding]:
    rows = cursor.execute("SELECT run_uid::VARCHAR, source FROM runs").fetchall()
    runs = data / "runs"
    folders = {path.name for path in runs.iterdir() if path.is_dir()} if runs.is_dir() else set()
    known = dict(rows)
    for name in sorted(folders - known.keys()):
        why = "" if is_uid(name) else ": its name is no run's"
        yield Finding("note", f"The folder runs/{name} is not in the database{why}.")
    for uid in sorted(known.keys() - folders):
        if known[uid] is None:
            yield Finding(
                "note", f"Run {uid} has no folder: it was imported, or its folder was removed."
            )
    waiting = sum(len(column_segments(runs / name / "spool")) for name in folders)
    if waiting:
        yield Finding("note", f"{waiting:,} segments wait to be loaded.")
    if kept := len(spools_with_kept(runs)):
        yield Finding("note", f"Loaded segments of {kept} runs are kept until the next checkpoint.")


def _mib(n_bytes: float) -> str:
    return (
        f"{n_bytes / (1 << 30):.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):.1f} MiB"
    )


_EXAMINED: tuple[Callable[[Cursor], Iterator[Finding]], ...] = (
    _size,
    _ledger,
    _orphans,
    _summaries,
    _damaged,
)

_DIFFERING = """
    WITH final AS (SELECT * FROM runs WHERE is_final),
    whole AS (SELECT * FROM final WHERE raw_dropped_epoch_ns IS NULL),
    events AS (SELECT run_id, count(*) AS n FROM token_events GROUP BY run_id),
    asked AS (SELECT run_id, count(*) AS n FROM requests GROUP BY run_id),
    seconds AS (SELECT run_id, sum(events) AS n FROM tok_sec GROUP BY run_id),
    before AS (
        SELECT run_id, sum(n_chunks) AS n FROM requests WHERE phase = 'preflight' GROUP BY run_id),
    gaps AS (SELECT run_id, sum(n) AS n FROM hist WHERE metric = 'gap' GROUP BY run_id),
    told AS (
        SELECT run_id, n_events AS told, 'token events' AS what FROM whole
        UNION ALL SELECT run_id, n_requests, 'requests' FROM final
        UNION ALL SELECT run_id, seconds.n, 'token events by second' FROM whole
            LEFT JOIN seconds USING (run_id)
        UNION ALL SELECT run_id, gaps.n, 'gaps' FROM whole LEFT JOIN gaps USING (run_id)),
    counted AS (
        SELECT run_id, 'token events' AS what, n FROM events
        UNION ALL SELECT run_id, 'requests', n FROM asked
        UNION ALL SELECT run_id, 'token events by second', events.n - coalesce(before.n, 0)
            FROM events LEFT JOIN before USING (run_id)
        UNION ALL SELECT run_id, 'gaps', sum(n_gaps) FROM request_times
            WHERE outcome = 'complete' AND phase NOT IN ('preflight', 'warmup') GROUP BY run_id)
    SELECT run_uid::VARCHAR, what, coalesce(told, 0)::BIGINT, coalesce(n, 0)::BIGINT
    FROM told JOIN runs USING (run_id) LEFT JOIN counted USING (run_id, what)
    WHERE coalesce(told, 0) <> coalesce(n, 0)"""
