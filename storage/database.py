"""The one open DuckDB of the store process: opened with our settings, reopened after a fatal error.

Nothing else may touch the file: see lock.py.  Every query gets a cursor of its own, because one
connection shared by threads answers wrongly (13 of 320 calls, measured).
"""

import contextlib
import re
import threading
from collections.abc import Generator
from pathlib import Path

import duckdb

from storage.migrations import bring_up_to_date
from storage.protocol import StoreError

NAME = "headway.duckdb"
_CLOSE_WITHIN_S = 30.0


class Database:
    """Hands out cursors; on a fatal error (full disk) it waits for all of them, then reopens."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._con: duckdb.DuckDBPyConnection | None = _open(data)
        self._generation = 0
        self._cursors = 0
        self._change = threading.Condition()
        self.writing = threading.Lock()
        """Held by a turn of the intake, and by an action that writes."""

    @contextlib.contextmanager
    def cursor(self) -> Generator[duckdb.DuckDBPyConnection]:
        """A cursor for one query or one transaction, closed afterwards.

        Raises StoreError if DuckDB gave up while it was in use; the database is open again then,
        holding every transaction that was committed, or the next call tries to open it.
        """
        generation, cursor = self._lend()
        try:
            yield cursor
        except duckdb.FatalException as error:
            self._give_back(cursor)
            self._reopen(generation)
            raise StoreError(_gave_up(self._data, error)) from error
        except BaseException:
            self._give_back(cursor)
            raise
        else:
            self._give_back(cursor)

    def close(self) -> None:
        """Close once no cursor is in use (at most half a minute); what is committed stays."""
        with self._change:
            self._change.wait_for(lambda: self._cursors == 0, _CLOSE_WITHIN_S)
            self._shut()

    def _lend(self) -> tuple[int, duckdb.DuckDBPyConnection]:
        with self._change:
            if self._con is None:
                self._con = _open(self._data)
            cursor = self._con.cursor()
            self._cursors += 1
            return self._generation, cursor

    def _give_back(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with contextlib.suppress(duckdb.Error):  # a fatal error leaves nothing that could be closed
            cursor.close()
        with self._change:
            self._cursors -= 1
            self._change.notify_all()

    def _reopen(self, broken_generation: int) -> None:
        with self._change:
            if self._generation != broken_generation:
                return  # another thread met the same error first
            self._generation += 1
            # An instance lives until its last cursor is closed; all of them fail at once now.
            self._change.wait_for(lambda: self._cursors == 0, _CLOSE_WITHIN_S)
            self._shut()
            with contextlib.suppress(StoreError):  # still no space: the next cursor tries again
                self._con = _open(self._data)

    def _shut(self) -> None:
        if self._con is not None:
            with contextlib.suppress(duckdb.Error):
                self._con.close()
            self._con = None


def rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    """Undo an open transaction; none is open if its commit has failed."""
    with contextlib.suppress(duckdb.TransactionException):
        cursor.rollback()


def first_line(error: BaseException) -> str:
    """DuckDB's own sentence without the page of advice below it."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    return text[0].strip()


def _open(data: Path) -> duckdb.DuckDBPyConnection:
    path = data / NAME
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,  # the load generator needs the cores
        "memory_limit": "1GB",
        "temp_directory": str(data / "duckdb_tmp"),
        "autoinstall_known_extensions": False,
        "checkpoint_threshold": "64MB",  # the default 16MB costs a third more CPU at ingest
        "python_enable_replacements": False,  # a Python variable is never mistaken for a table
    }
    try:
        con = duckdb.connect(str(path), config=config)
        con.execute("SET GLOBAL TimeZone = 'UTC'")
        bring_up_to_date(con)
    except duckdb.Error as error:
        raise StoreError(_why_not(path, error)) from error
    return con


def _why_not(path: Path, error: duckdb.Error) -> str:
    seen = first_line(error)
    if "Could not set lock" in seen:
        who = re.search(r"held in (\S+) \(PID (\d+)\)", seen)
        other = f"{who[1]}, process {who[2]}" if who else "another program"
        return f"The database {path} is open in {other}; close it there, then try again."
    if "WAL" in seen:
        return (
            f"The write-ahead log {path}.wal is damaged ({seen}); keep a copy of it and move it "
            "away to open the database as of its last checkpoint."
        )
    if "No space left" in seen or "File too large" in seen:
        return f"The database {path} cannot be opened: the disk is full ({seen}); free some space."
    return (
        f"The database {path} cannot be read ({seen}); move it away together with its .wal file to "
        "begin a new one, or put a backup in its place."
    )


def _gave_up(data: Path, error: duckdb.Error) -> str:
    return (
        f"The database in {data} had to be reopened ({first_line(error)}); if its disk is full, "
        "free some space. What was measured is safe in the runs' folders and is loaded then."
    )
