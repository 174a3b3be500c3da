"""Opening the database file: our settings, a damaged log mended, or why it cannot be opened."""

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from storage.migrations import bring_up_to_date
from storage.protocol import StoreError
from storage.wal import cut, damaged_at, put_back

NAME = "headway.duckdb"


@dataclass(frozen=True, slots=True)
class Opened:
    """The open database, and what was mended on the way; empty if nothing was."""

    con: duckdb.DuckDBPyConnection
    note: str = ""


def open_database(data: Path) -> Opened:
    """The database of a data folder with the tables of the newest schema.

    A write-ahead log with a damaged entry is cut there, a copy kept.  Raises StoreError, one
    sentence that says what to do, and has changed no file then.
    """
    try:
        return Opened(_connect(data))
    except duckdb.Error as error:
        at_byte = damaged_at(error)
        if at_byte is None:
            raise StoreError(_why_not(data / NAME, error)) from error
    return _mended(data, at_byte)


def first_line(error: BaseException) -> str:
    """DuckDB's own sentence without the page of advice below it."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    return text[0].strip()


def _mended(data: Path, at_byte: int) -> Opened:
    wal = data / f"{NAME}.wal"
    n_bytes = wal.stat().st_size
    try:
        whole = cut(wal, at_byte)
    except OSError as error:
        raise StoreError(
            f"The write-ahead log {wal} is damaged at byte {at_byte:,} and cannot be mended "
            f"({error.strerror or error}); free {n_bytes >> 20} MiB on its disk and try again."
        ) from None
    try:
        con = _connect(data)
    except (duckdb.Error, StoreError) as error:
        put_back(whole, wal)
        if isinstance(error, StoreError):
            raise
        raise StoreError(_why_not(data / NAME, error)) from error
    return Opened(
        con,
        f"The write-ahead log was damaged at byte {at_byte:,} of {n_bytes:,}; it was cut there, "
        f"and the whole of it is kept as {whole.name}.  Measurements behind the damage are loaded "
        "again from the runs' folders; a window moved by hand or a run deleted since the last "
        "checkpoint may be as it was before.",
    )


def _connect(data: Path) -> duckdb.DuckDBPyConnection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,  # the load generator needs the cores
        "memory_limit": "320MB",  # blocks of the file stay in memory up to it; more is spilled
        "temp_directory": str(data / "duckdb_tmp"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "checkpoint_threshold": "64MB",  # the default 16MB costs a third more CPU at ingest
        "python_enable_replacements": False,  # a Python variable is never mistaken for a table
    }
    con = duckdb.connect(str(data / NAME), config=config)
    try:
        con.execute("SET GLOBAL TimeZone = 'UTC'")
        bring_up_to_date(con)
        _shut_in(con, data)
    except BaseException:
        con.close()
        raise
    return con


def _shut_in(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    """No SQL of this process reaches a file outside the data folder or the network from here on.

    Measured on 2.0.1: the database's own file, its WAL and its temp_directory stay usable
    (checkpoints and spilling included); COPY, ATTACH and read_parquet work below the folder only,
    `..` does not lead out; INSTALL, LOAD and every later SET of an option are refused.
    """
    con.execute("SET GLOBAL allowed_directories = $paths", {"paths": [f"{data}/"]})
    con.execute("SET GLOBAL enable_external_access = false")
    con.execute("SET GLOBAL lock_configuration = true")


def _why_not(path: Path, error: duckdb.Error) -> str:
    seen = first_line(error)
    if "Could not set lock" in seen:
        who = re.search(r"held in (\S+) \(PID (\d+)\)", seen)
        other = f"{who[1]}, process {who[2]}" if who else "another program"
        return f"The database {path} is open in {other}; close it there, then try again."
    if "No space left" in seen or "File too large" in seen:
        return f"The database {path} cannot be opened: the disk is full ({seen}); free some space."
    if "WAL" in seen and "does not match" in seen:
        return (
            f"The write-ahead log {path}.wal belongs to another state of the database ({seen}); "
            "put the database file that goes with it back, or move the log to another folder to "
            "open the database as of its last checkpoint.  Nothing was changed."
        )
    if "WAL" in seen:
        return (
            f"The write-ahead log {path}.wal is damaged at its very beginning ({seen}); move it to "
            "another folder to open the database as of its last checkpoint: what was measured "
            "since is loaded again from the runs' folders.  Nothing was changed."
        )
    return (
        f"The database {path} cannot be read ({seen}); move it away together with its .wal file to "
        "begin a new one, or put a backup in its place.  Nothing was changed."
    )
