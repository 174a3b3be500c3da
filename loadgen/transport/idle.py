"""Connections that wait for their next request, watched: servers close idle ones as they like."""

from collections.abc import Iterator
from functools import partial

from loadgen.transport.connection import Connection
from loadgen.transport.tls import PIECE_BYTES


class IdleConnections:
    """Last in, first out; whatever arrives on an idle connection ends it."""

    def __init__(self) -> None:
        self._waiting: dict[int, Connection] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._waiting.values()))

    def put(self, connection: Connection) -> None:
        """Keep it for a later request."""
        self._waiting[id(connection)] = connection
        connection.on_readable(partial(self._look, connection))

    def take(self) -> Connection | None:
        """The latest one that the server has not closed, looked at now; None if there is none."""
        while self._waiting:
            _, connection = self._waiting.popitem()
            if _is_open(connection):
                return connection
            connection.close()
        return None

    def close_all(self) -> None:
        """Close each."""
        while self._waiting:
            self._waiting.popitem()[1].close()

    def _look(self, connection: Connection) -> None:
        if not _is_open(connection):
            del self._waiting[id(connection)]
            connection.close()


def _is_open(connection: Connection) -> bool:
    """Whether nothing has come, or nothing but TLS's and HTTP/2's own messages."""
    try:
        received = connection.sock.recv(PIECE_BYTES)
        if received and connection.is_translated:
            connection.decrypt(received)
        return False
    except BlockingIOError:
        return connection.is_reusable
    except OSError:
        return False
