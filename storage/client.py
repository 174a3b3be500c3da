"""The store as everyone else sees it: `Store.connect(data).ask("runs")` gives a pandas frame."""

import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storage import starting
from storage.protocol import Mistake, StoreError, question, read_answer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Mistake", "Store", "StoreError"]

ANSWER_WITHIN_S = 45.0  # the store itself ends a question after 30 s


class Store:
    """A client of the one process that owns a data folder; threads may share it.

    Each question in flight has a connection of its own; idle ones are kept.  If the store has ended
    or was killed, the next question starts it again: questions only read, so asking twice is safe.
    """

    def __init__(self, data: Path, answer_within_s: float = ANSWER_WITHIN_S) -> None:
        self._data = data.absolute()
        self._answer_within_s = answer_within_s
        self._idle: list[Connection[Any, Any]] = []
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, data: Path) -> "Store":
        """A client of `data`'s store, which is started if it does not run.

        Raises StoreError, one sentence for the user, if the folder cannot be used.
        """
        store = cls(data)
        store._keep(starting.connect(store._data))
        return store

    def ask(self, name: str, /, **args: Any) -> "pd.DataFrame":
        """The frame of a named question; storage/queries.py documents each.

        Whole numbers are int64, or float64 with NaN where a column has nulls; texts are str, times
        UTC.  Raises StoreError with a sentence for the user.
        """
        return _frame(self.ask_arrow(name, **args))

    def ask_arrow(self, name: str, /, **args: Any) -> "pa.Table":
        """The same as an Arrow table, as the store sent it."""
        asked = question(name, args)
        try:
            raw = self._exchange(asked, self._answer_within_s)
        except (EOFError, ConnectionError):  # the store has gone: start it, ask once more
            self.close()
            try:
                raw = self._exchange(asked, self._answer_within_s)
            except (EOFError, ConnectionError):
                raise StoreError(
                    f"The store of {self._data} ended while it answered {name!r}, twice; "
                    f"see {self._data / starting.LOG}."
                ) from None
        return read_answer(raw)

    def do(self, name: str, /, **args: Any) -> "pd.DataFrame":
        """The frame of a named action (storage/actions.py); asked once, never again by itself.

        Raises StoreError with a sentence for the user.  May take as long as the action takes.
        """
        raw = self._exchange(question(name, args), patience_s=None)
        return _frame(read_answer(raw))

    def close(self) -> None:
        """Give the idle connections back; the store ends a minute after its last client."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _exchange(self, asked: bytes, patience_s: float | None) -> bytes:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = starting.connect(self._data)
        try:
            connection.send_bytes(asked)
            if not connection.poll(patience_s):
                raise StoreError(
                    f"The store of {self._data} has not answered within {patience_s:g} s"
                    f"; see {self._data / starting.LOG}."
                )
            raw = connection.recv_bytes()
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return raw

    def _keep(self, connection: "Connection[Any, Any]") -> None:
        with self._lock:
            self._idle.append(connection)


def _frame(table: "pa.Table") -> "pd.DataFrame":
    import pyarrow as pa

    # int64 throughout: a small type would overflow in the first sum or product of a reader.
    wide = [
        field.with_type(pa.int64()) if pa.types.is_integer(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(wide)).to_pandas()
