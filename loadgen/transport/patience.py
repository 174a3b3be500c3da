"""The time that opening a connection may take, and waiting on a socket within it."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import time
from typing import Literal

from gevent import socket as gevent_socket

from loadgen.transport import trouble
from loadgen.transport.connection import READABLE, WRITABLE, Phases
from loadgen.transport.endpoint import Endpoint

PIECE_BYTES = 65536


class ConnectFailed(Exception):
    """No connection; the text is the sentence for the user, `cause` as in the CLOSE record."""

    def __init__(self, cause: Literal["connect_failed", "tls_failed"], sentence: str) -> None:
        super().__init__(sentence)
        self.cause: Literal["connect_failed", "tls_failed"] = cause
        self.phases = Phases()


class TooLate(ConnectFailed):
    """The limit, or an address's share of it, was over before an answer came."""


class NeedsHttp2(ConnectFailed):
    """The server would speak HTTP/2 only."""


class Patience:
    """What is left of the connect limit, and in which phase it would run out."""

    def __init__(self, endpoint: Endpoint, limit_s: float) -> None:
        self.endpoint, self.limit_s = endpoint, limit_s
        self.end_ns = time.monotonic_ns() + round(limit_s * 1e9)

    def left_s(self) -> float:
        """Seconds; 0 when it is over."""
        return max(0.0, (self.end_ns - time.monotonic_ns()) / 1e9)

    def too_late(self, phase: trouble.Phase) -> TooLate:
        """What to raise when it ran out in this phase."""
        cause = "tls_failed" if phase == "tls" else "connect_failed"
        return TooLate(cause, trouble.connect_timeout(self.endpoint, phase, self.limit_s))

    def send(self, sock: _socket.socket, data: bytes) -> None:
        """Send all of it; raises TimeoutError, OSError."""
        while data:
            wait(sock, WRITABLE, self.left_s())
            data = data[sock.send(data) :]

    def receive(self, sock: _socket.socket, flags: int = 0) -> bytes:
        """The next bytes, empty at the end; raises TimeoutError, OSError."""
        wait(sock, READABLE, self.left_s())
        return sock.recv(PIECE_BYTES, flags)


def wait(sock: _socket.socket, events: int, limit_s: float) -> None:
    """Block this greenlet until the socket is ready; raises TimeoutError."""
    for_it = gevent_socket.wait_read if events == READABLE else gevent_socket.wait_write
    for_it(sock.fileno(), limit_s, TimeoutError("no answer"))
