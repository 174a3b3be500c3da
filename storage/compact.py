"""What is tidied while nothing is measured: runs to be closed, live summaries, the log."""

from pathlib import Path

import duckdb
import pyarrow as pa

from storage.answers import one_row
from storage.database import rollback
from storage.finalise import finalise, is_settled
from storage.kept import checkpoint, kept_bytes, spools_with_kept
from storage.opening import NAME
from storage.owner import Owner
from storage.protocol import StoreError
from storage.records import TERMINAL

Cursor = duckdb.DuckDBPyConnection


def compact(owner: Owner) -> pa.Table:
    """Close runs that are over, merge what live summaries hold twice, make a checkpoint.

    One row: n_closed, rows_before and rows_after (of hist and tok_sec), freed_bytes (log and kept
    segments), unused_bytes (holes in the file, which later runs use).
    """
    runs, wal = owner.data / "runs", owner.data / f"{NAME}.wal"
    with owner.database.writing, owner.database.cursor() as cursor:
        rows_before = _n_rows(cursor)
        n_closed = _close(cursor, runs)
        _merge(cursor)
        rows_after = _n_rows(cursor)
        before = _size(wal) + kept_bytes(spools_with_kept(runs))
        if not checkpoint(cursor, runs):
            raise StoreError("The database is being written; try again in a moment.")
        after = _size(wal) + kept_bytes(spools_with_kept(runs))
        unused = cursor.execute(
            "SELECT free_blocks * block_size FROM pragma_database_size() "
            "WHERE database_name = current_database()"
        ).fetchall()[0][0]
    return one_row(
        {
            "n_closed": n_closed,
            "rows_before": rows_before,
            "rows_after": rows_after,
            "freed_bytes": before - after,
            "unused_bytes": unused,
        }
    )


def _close(cursor: Cursor, runs: Path) -> int:
    """Runs that are over and wait for a quiet minute, or for trouble to pass."""
    rows = cursor.execute(
        "SELECT run_id, run_uid::VARCHAR, n_workers FROM runs "
        f"WHERE NOT is_final AND state IN {tuple(sorted(TERMINAL))}"
    ).fetchall()
    over = [run_id for run_id, uid, n in rows if is_settled(runs / uid / "spool", n)]
    for run_id in over:
        finalise(cursor, run_id)
    return len(over)


def _merge(cursor: Cursor) -> None:
    """Rows of runs that are not final: each load added some of its own."""
    cursor.begin()
    try:
        for table, (keys, sums) in _LIVE.items():
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE merged AS SELECT {keys}, "
                f"{', '.join(f'sum({name})::BIGINT AS {name}' for name in sums)} "
                f"FROM {table} WHERE {_OF_LIVE} GROUP BY {keys}"
            )
            cursor.execute(f"DELETE FROM {table} WHERE {_OF_LIVE}")
            cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM merged")
        cursor.execute("DROP TABLE merged")
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise


def _n_rows(cursor: Cursor) -> int:
    return cursor.execute(
        "SELECT (SELECT count(*) FROM hist) + (SELECT count(*) FROM tok_sec)"
    ).fetchall()[0][0]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


_OF_LIVE = "run_id IN (SELECT run_id FROM runs WHERE NOT is_final AND raw_dropped_epoch_ns IS NULL)"
_LIVE: dict[str, tuple[str, tuple[str, ...]]] = {
    "hist": ("run_id, stage, metric, b", ("n",)),
    "tok_sec": ("run_id, stage, sec", ("tokens", "events", "unknown")),
}
