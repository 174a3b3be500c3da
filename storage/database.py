"""The one open DuckDB of the store process: opened with our settings, reopened after a fatal error.

Nothing else may touch the file: see lock.py.  Every query gets a cursor of its own, because one
connection shared by threads answers wrongly (13 of 320 calls, measured).
"""

import contextlib
import logging
import threading
from collections.abc import Generator
from pathlib import Path

import duckdb

from storage.opening import NAME, first_line, open_database
from storage.protocol import StoreError

__all__ = ["NAME", "Database", "first_line", "rollback"]

_CLOSE_WITHIN_S = 30.0
_log = logging.getLogger("headway.store")


class Database:
    """Hands out cursors; on a fatal error (full disk) it waits for all of them, then reopens."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._con: duckdb.DuckDBPyConnection | None = None
        self._generation = 0
        self._cursors = 0
        self._is_closed_for = False
        self._change = threading.Condition()
        self.notes: list[str] = []
        """What had to be mended since this process began: sentences for the user."""
        self.writing = threading.Lock()
        """Held by a turn of the intake, and by an action that writes."""
        self._open()

    @property
    def generation(self) -> int:
        """Another number after each opening: rows written before may be gone with a damaged log."""
        return self._generation

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

    @contextlib.contextmanager
    def put_down(self) -> Generator[None]:
        """The file is closed meanwhile, every question waits; it is open again afterwards.

        To be called while `writing` is held.  Raises StoreError if questions do not end in time.
        """
        with self._change:
            self._is_closed_for = True
            try:
                if not self._change.wait_for(lambda: self._cursors == 0, _CLOSE_WITHIN_S + 5):
                    raise StoreError(
                        "A question is still being answered, so the database cannot be closed for "
                        "a moment; try again."
                    )
                self._shut()
                try:
                    yield
                finally:
                    with contextlib.suppress(StoreError):  # the next cursor tries again, and tells
                        self._open()
            finally:
                self._is_closed_for = False
                self._change.notify_all()

    def close(self) -> None:
        """Close once no cursor is in use (at most half a minute); what is committed stays."""
        with self._change:
            self._change.wait_for(lambda: self._cursors == 0, _CLOSE_WITHIN_S)
            self._shut()

    def _lend(self) -> tuple[int, duckdb.DuckDBPyConnection]:
        with self._change:
            self._change.wait_for(lambda: not self._is_closed_for)
            con = self._con or self._open()
            cursor = con.cursor()
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
            self._generation += 1  # also if it cannot be opened now: the others need not try
            # An instance lives until its last cursor is closed; all of them fail at once now.
            self._change.wait_for(lambda: self._cursors == 0, _CLOSE_WITHIN_S)
            self._shut()
            with contextlib.suppress(StoreError):  # still no space: the next cursor tries again
                self._open()

    def _open(self) -> duckdb.DuckDBPyConnection:
        opened = open_database(self._data)
        self._con = opened.con
        self._generation += 1
        if opened.note:
            _log.warning(opened.note)
            self.notes.append(opened.note)
        return opened.con

    def _shut(self) -> None:
        if self._con is not None:
            with contextlib.suppress(duckdb.Error):
                self._con.close()
            self._con = None


def rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    """Undo an open transaction; none is open if its commit has failed."""
    with contextlib.suppress(duckdb.TransactionException):
        cursor.rollback()


def _gave_up(data: Path, error: duckdb.Error) -> str:
    return (
        f"The database in {data} had to be reopened ({first_line(error)}); if its disk is full, "
        "free some space. What was measured is safe in the runs' folders and is loaded then."
    )
