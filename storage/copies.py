"""The database copied by SQL into a fresh file: a backup, or a smaller file in its own place.

Never by copying the open file: that would drop DuckDB's lock (lock.py), and miss the log.
"""

import contextlib
import os
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa

from storage.answers import one_row
from storage.intake import least_free_bytes
from storage.kept import checkpoint
from storage.opening import NAME, first_line
from storage.owner import Owner
from storage.protocol import Mistake, StoreError
from storage.wal import sync_folder

FRESH = f"{NAME}.fresh"
"""The copy while it is made; a killed store may leave one, which the next one removes."""


def backup(owner: Owner, path: str) -> pa.Table:
    """Copy everything into a new file that any DuckDB 2 opens; one row: path, n_bytes.

    It is made beside the database and moved to `path` when it is whole.  Raises StoreError where
    something lies at `path`, or there is no room.
    """
    target = Path(path).absolute()
    if target.exists():
        what = "folder" if target.is_dir() else "file"
        raise Mistake(f"There is a {what} {target} already; give a name that is free.")
    if not target.parent.is_dir():
        raise Mistake(f"There is no folder {target.parent}; make it, or give another path.")
    with owner.database.writing:
        fresh = _copied(owner)
    try:
        n_bytes = fresh.stat().st_size
        _move(fresh, target)
    except OSError as error:
        raise StoreError(
            f"The backup could not be put at {target} ({error.strerror or error}); "
            "nothing is there now, and the database is as it was."
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
    return one_row({"path": str(target), "n_bytes": n_bytes})


def vacuum(owner: Owner) -> pa.Table:
    """Rewrite the database without its holes; one row: before_bytes, after_bytes.

    Questions wait while the files are exchanged.  Killed at any moment, the old file or the new one
    is there, whole.  Raises StoreError, and the database is as it was.
    """
    main = owner.data / NAME
    with owner.database.writing:
        with owner.database.cursor() as cursor:
            if not checkpoint(cursor, owner.data / "runs"):
                raise StoreError("The database is being written; try again in a moment.")
        before_bytes = main.stat().st_size
        fresh = _copied(owner)
        try:
            if fresh.stat().st_size < before_bytes:
                _exchange(owner, fresh, main)
        finally:
            fresh.unlink(missing_ok=True)
    return one_row({"before_bytes": before_bytes, "after_bytes": main.stat().st_size})


def remove_leftovers(data: Path) -> None:
    """What a store killed while it copied has left."""
    for path in data.glob(f"{FRESH}*"):
        path.unlink(missing_ok=True)


def _exchange(owner: Owner, fresh: Path, main: Path) -> None:
    with owner.database.put_down():
        if main.with_name(f"{NAME}.wal").exists():  # the new file would not know this log
            raise StoreError("The database could not be closed properly; try again.")
        fresh.replace(main)
        sync_folder(main.parent)


def _copied(owner: Owner) -> Path:
    """A whole copy of what is committed now, on disk, held by nobody."""
    remove_leftovers(owner.data)
    fresh = owner.data / FRESH
    with owner.database.cursor() as cursor:
        name, used_bytes = cursor.execute(
            "SELECT database_name, used_blocks * block_size FROM pragma_database_size() "
            "WHERE database_name = current_database()"
        ).fetchall()[0]
        _refuse_without_room(owner.data, used_bytes)
        try:
            _copy(cursor, name, fresh)
        except (duckdb.Error, StoreError) as error:
            remove_leftovers(owner.data)
            raise StoreError(
                f"The database could not be copied ({first_line(error)}); it is as it was.  "
                "`headway db check` says whether all of it can be read."
            ) from error
    with fresh.open("rb") as whole:
        os.fsync(whole.fileno())
    return fresh


def _copy(cursor: duckdb.DuckDBPyConnection, name: str, fresh: Path) -> None:
    quoted = str(fresh).replace("'", "''")
    cursor.execute(f"ATTACH '{quoted}' AS fresh")
    try:
        cursor.execute(f'COPY FROM DATABASE "{name}" TO fresh')
        for table in _tables(cursor, name):
            both = [
                cursor.execute(f'SELECT count(*) FROM "{db}"."{table}"').fetchall()
                for db in (name, "fresh")
            ]
            if both[0] != both[1]:
                raise StoreError(f"the copy of {table} has {both[1][0][0]:,} rows")
    except BaseException:
        with contextlib.suppress(duckdb.Error):
            cursor.execute("DETACH fresh")
        raise
    cursor.execute("DETACH fresh")


def _tables(cursor: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    rows = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = $name", {"name": name}
    ).fetchall()
    return [table for (table,) in rows]


def _refuse_without_room(data: Path, used_bytes: int) -> None:
    free = shutil.disk_usage(data).free
    needed = used_bytes + least_free_bytes(data)
    if free < needed:
        raise StoreError(
            f"A copy needs {needed >> 20:,} MiB on the disk of {data}, of which {free >> 20:,} are "
            "free; make room there first."
        )


def _move(fresh: Path, target: Path) -> None:
    """Without ever writing over a file that came to be there meanwhile."""
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise
    except OSError:  # another disk, or one without hard links
        aside = target.with_name(f".{target.name}.partial")
        try:
            shutil.copyfile(fresh, aside)
            with aside.open("rb") as whole:
                os.fsync(whole.fileno())
            if target.exists():
                raise FileExistsError(17, "there is a file by now") from None
            aside.rename(target)
        finally:
            aside.unlink(missing_ok=True)
    sync_folder(target.parent)
