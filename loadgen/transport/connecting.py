"""Opening connections phase by phase (name, TCP, proxy, TLS), each timed, within one limit."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import ssl
import time

from gevent import socket as gevent_socket

from loadgen.transport import trouble
from loadgen.transport.addresses import Addresses, Resolve
from loadgen.transport.connection import Connection, Phases
from loadgen.transport.dial import dial
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.handshake import handshake
from loadgen.transport.http2 import Http2
from loadgen.transport.patience import ConnectFailed, Patience
from loadgen.transport.tls import tls_context
from loadgen.transport.tunnel import open_tunnel

__all__ = ["ConnectFailed", "Connector"]


class Connector:
    """Opens connections to one endpoint; keeps what they share: addresses, trusted authorities.

    resolve: socket.getaddrinfo or one like it that lets other greenlets run.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        limit_s: float,
        resolve: Resolve = gevent_socket.getaddrinfo,
    ) -> None:
        self._endpoint, self._limit_s = endpoint, limit_s
        self._addresses = Addresses(*endpoint.next_hop, resolve)
        self._context: ssl.SSLContext | None = None
        self._problem: str | None = None
        self._opened: list[Phases] = []
        if endpoint.scheme == "https":
            try:
                self._context = tls_context(endpoint)
            except ValueError as error:  # each request will say so, as of any failed connection
                self._problem = str(error)

    def connect(self) -> Connection:
        """Open one; blocks the greenlet.  Raises ConnectFailed with its phases so far."""
        phases = Phases()
        if self._problem is not None:
            raise ConnectFailed("tls_failed", self._problem)
        try:
            connection = self._connect(Patience(self._endpoint, self._limit_s), phases)
        except ConnectFailed as failed:
            failed.phases = phases
            raise
        self._opened.append(phases)
        return connection

    def take_opened(self) -> list[Phases]:
        """The phases of every connection opened since the last call."""
        opened, self._opened = self._opened, []
        return opened

    def _connect(self, patience: Patience, phases: Phases) -> Connection:
        endpoint = self._endpoint
        sock = dial(self._addresses, patience, phases)
        try:
            if endpoint.is_tunnelled:
                _tunnel(sock, patience, phases)
            tls = None
            if self._context is not None:
                tls = handshake(sock, self._context, patience, phases)
            http2 = Http2(endpoint.scheme) if endpoint.http == "2" else None
            return Connection(sock, tls, http2, phases)
        except BaseException:
            sock.close()
            raise


def _tunnel(sock: _socket.socket, patience: Patience, phases: Phases) -> None:
    """The proxy's part counts as connecting: connect_ns is until the server can be reached."""
    begin_ns = time.monotonic_ns()
    try:
        open_tunnel(sock, patience)
    except TimeoutError:
        raise patience.too_late("tunnel") from None
    except OSError as error:
        sentence = trouble.connect_trouble(patience.endpoint, error)
        raise ConnectFailed("connect_failed", sentence) from None
    finally:
        phases.connect_ns = (phases.connect_ns or 0) + time.monotonic_ns() - begin_ns
