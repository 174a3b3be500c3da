"""Connections that wait for their next request, watched: servers close idle ones as they like."""

from collections.abc import Iterator
from functools import partial

from loadgen.transport.connection import Connection
from loadgen.transport.polls import Polls
from loadgen.transport.tls import PIECE_BYTES


class IdleConnections:
    """Last in, first out; whatever arrives on an idle connection ends it."""

    def __init__(self, polls: Polls) -> None:
        self._polls = polls
        self._waiting: dict[int, tuple[Connection, int]] = {}  # and the turn it came in

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Connection]:
        return iter([connection for connection, _ in self._waiting.values()])

    def put(self, connection: Connection) -> None:
        """Keep it for a later request."""
        self._waiting[id(connection)] = connection, self._polls.turn
        connection.on_readable(partial(self._look, connection))

    def take(self) -> Connection | None:
        """The latest one that the server has not closed; None if there is none.

        Looked at now, unless the loop has polled since it came: that would have told of an end, and
        one that came after it is as one that comes while our request is on its way.
        """
        while self._waiting:
            _, (connection, turn) = self._waiting.popitem()
            is_watched = self._polls.turn > turn and not connection.is_translated
            if is_watched or _is_open(connection):
                return connection
            connection.close()
        return None

    def close_all(self) -> None:
        """Close each."""
        while self._waiting:
            _, (connection, _) = self._waiting.popitem()
            connection.close()

    def _look(self, connection: Connection) -> None:
        if not _is_open(connection):
            del self._waiting[id(connection)]
            connection.close()


def _is_open(connection: Connection) -> bool:
    """Whether nothing has come, or nothing but TLS's and HTTP/2's own messages."""
    try:
        received = connection.sock.recv(PIECE_BYTES)
        if received and connection.is_translated:
            connection.segments.lose_count()
            connection.decrypt(received)
        return False
    except BlockingIOError:
        return connection.is_reusable
    except OSError:
        return False
