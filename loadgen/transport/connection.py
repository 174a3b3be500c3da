"""One open connection: non-blocking sends, one io watcher for life."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gevent import get_hub

from loadgen.transport.http2 import Http2
from loadgen.transport.segments import Segments
from loadgen.transport.tls import Tls

READABLE, WRITABLE = 1, 2  # libev's event masks


@dataclass(slots=True)
class Phases:
    """How long each phase of opening a connection took; None: there was no such phase.

    dns_ns: a lookup; connections that use an earlier one's answer have none.  connect_ns: TCP, over
    all addresses tried, and a proxy's CONNECT.
    """

    dns_ns: int | None = None
    connect_ns: int | None = None
    tls_ns: int | None = None


class Connection:
    """An open connection.  Its read watcher runs for life, for whoever on_readable() names."""

    __slots__ = ("_http2", "_reader", "_unsent", "_writer", "phases", "segments", "sock", "tls")

    def __init__(
        self, sock: _socket.socket, tls: Tls | None, http2: Http2 | None, phases: Phases
    ) -> None:
        self.sock = sock
        self.tls = tls
        self._http2 = http2
        self.phases = phases
        self.segments = Segments(sock)
        self._unsent: memoryview | None = None
        self._writer: Any = None
        self._reader: Any = get_hub().loop.io(sock.fileno(), READABLE)
        self._send_owed()  # HTTP/2's preface

    def on_readable(self, callback: Callable[[], None]) -> None:
        """From now on call this when bytes, an end or an error wait to be read."""
        self._reader.start(callback)

    def send(self, data: bytes) -> None:
        """Send a whole HTTP/1.1 request: now what the socket takes, the rest as it takes more.

        Never raises OSError: a broken connection shows on the reading side, where an early answer
        may still wait.
        """
        if self._http2 is not None:
            data = self._http2.request(data)
        if self.tls is not None and data:
            data = self.tls.encrypt(data)
        self._send(data)

    @property
    def is_translated(self) -> bool:
        """Whether the socket's bytes are not yet those of HTTP/1.1: `decrypt` makes them so."""
        return self.tls is not None or self._http2 is not None

    @property
    def is_sending(self) -> bool:
        """Whether a part of what was to be sent still waits."""
        return self._unsent is not None or (self._http2 is not None and self._http2.is_sending)

    @property
    def is_closed_by_peer(self) -> bool:
        """Whether TLS or HTTP/2 said that nothing more comes, though the socket may stay open."""
        return (self.tls is not None and self.tls.is_closed) or self.trouble is not None

    @property
    def trouble(self) -> OSError | None:
        """Why HTTP/2 gave up, which no read may tell; None if it did not."""
        return None if self._http2 is None else self._http2.trouble

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow, as far as the server has said."""
        if not self.is_translated:
            return True
        return not self.is_closed_by_peer and (self._http2 is None or self._http2.can_go_on)

    def close(self) -> None:
        """Stop both watchers, then close; libev wants that order."""
        self._stop_sending()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
            self.sock.close()

    def _send_owed(self) -> None:
        """What HTTP/2 and TLS want to say by themselves."""
        if self._http2 is not None and (owed := self._http2.owed()):
            self._send(owed if self.tls is None else self.tls.encrypt(owed))
        if self.tls is not None and (owed := self.tls.owed()):
            self._send(owed)

    def _send(self, data: bytes) -> None:
        if self._unsent is not None:  # a key update's answer behind a large body
            self._unsent = memoryview(bytes(self._unsent) + data)
            return
        try:
            sent = self.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return
        if sent < len(data):
            self._unsent = memoryview(data)[sent:]
            self._writer = get_hub().loop.io(self.sock.fileno(), WRITABLE)
            self._writer.start(self._on_writable)

    def _on_writable(self) -> None:
        assert self._unsent is not None
        try:
            self._unsent = self._unsent[self.sock.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._writer.stop()  # `is_sending` stays true: the connection must not be reused
            return
        if not self._unsent:
            self._stop_sending()

    def _stop_sending(self) -> None:
        self._unsent = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def decrypt(self, received: bytes) -> bytes:
        """The HTTP/1.1 bytes completed by these, empty at the end; as a socket's recv would.

        Raises BlockingIOError when there are none yet, another OSError when nothing more can come.
        """
        plain = received if self.tls is None else self.tls.decrypt(received)
        try:
            if self._http2 is not None and plain:
                plain = self._http2.received(plain)
        finally:
            self._send_owed()
        if not plain and not (self.tls is not None and self.tls.is_closed):
            raise BlockingIOError
        return plain
