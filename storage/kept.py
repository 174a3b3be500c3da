"""Column segments that are loaded, kept until the database needs its write-ahead log no more.

A commit lies in the log until a checkpoint.  If the log is damaged before, what stood behind the
damage is loaded again from these files: the ledger knows what is there (docs/adr/0010).
"""

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb

from storage.column_spool import ColumnSegment, column_segments

FOLDER = "loaded"
MOST_BYTES = 100 << 20
"""More than this is not kept: it is time for a checkpoint."""


def keep(segment: ColumnSegment) -> None:
    """Move a segment that is committed out of the spool's way; called again it does nothing."""
    folder = segment.path.parent / FOLDER
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        segment.path.replace(folder / segment.path.name)


def kept_bytes(spools: Iterable[Path]) -> int:
    """What the kept segments of these spool folders take up."""
    total = 0
    for spool in spools:
        for segment in column_segments(spool / FOLDER):
            with contextlib.suppress(FileNotFoundError):
                total += segment.path.stat().st_size
    return total


def spools_with_kept(runs: Path) -> list[Path]:
    """Spool folders in which something is kept."""
    return [folder.parent for folder in runs.glob(f"*/spool/{FOLDER}")]


def checkpoint(cursor: duckdb.DuckDBPyConnection, runs: Path) -> bool:
    """Write the log's content into the database file and let go of what was kept till then.

    To be called while `Database.writing` is held.  False if the database is in use in a way that
    allows none now; then everything stays kept.
    """
    try:
        cursor.execute("CHECKPOINT")
    except duckdb.TransactionException:
        return False
    for spool in spools_with_kept(runs):
        shutil.rmtree(spool / FOLDER, ignore_errors=True)
    return True


def restore(cursor: duckdb.DuckDBPyConnection, runs: Path) -> int:
    """Put back into the spool what the ledger does not hold any more; returns how many segments.

    After each opening of the database: a log's torn end is dropped without a word.
    """
    return sum(_restore(cursor, spool) for spool in spools_with_kept(runs))


def _restore(cursor: duckdb.DuckDBPyConnection, spool: Path) -> int:
    rows = cursor.execute(
        "SELECT worker, seq FROM seg_ledger JOIN runs USING (run_id) "
        "WHERE run_uid = try_cast($uid AS UUID) AND is_last",
        {"uid": spool.parent.name},
    ).fetchall()
    whole = set(rows)
    n = 0
    for segment in column_segments(spool / FOLDER):
        if (segment.worker, segment.seq) not in whole:
            segment.path.replace(spool / segment.path.name)
            n += 1
    return n
