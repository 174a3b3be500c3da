"""Opening a connection phase by phase (name, TCP, TLS), each phase timed, within one limit."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import os
import ssl
import time
from typing import Any, Literal

import gevent
from gevent import socket as gevent_socket

from loadgen.transport import stamps, trouble
from loadgen.transport.connection import READABLE, WRITABLE, Connection, Phases
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.tls import PIECE_BYTES, Tls


class ConnectFailed(Exception):
    """No connection; the text is the sentence for the user, `cause` as in the CLOSE record."""

    def __init__(self, cause: Literal["connect_failed", "tls_failed"], sentence: str) -> None:
        super().__init__(sentence)
        self.cause: Literal["connect_failed", "tls_failed"] = cause
        self.phases = Phases()


class _Clock:
    """What is left of the connect limit, and in which phase it would run out."""

    def __init__(self, endpoint: Endpoint, limit_s: float) -> None:
        self.endpoint, self.limit_s = endpoint, limit_s
        self.end_ns = time.monotonic_ns() + round(limit_s * 1e9)

    def left_s(self) -> float:
        return max(0.0, (self.end_ns - time.monotonic_ns()) / 1e9)

    def too_late(self, phase: str) -> ConnectFailed:
        cause = "tls_failed" if phase == "tls" else "connect_failed"
        return ConnectFailed(cause, trouble.connect_timeout(self.endpoint, phase, self.limit_s))


def connect(endpoint: Endpoint, context: ssl.SSLContext | None, limit_s: float) -> Connection:
    """Open one connection; blocks the greenlet.  Raises ConnectFailed with its phases so far."""
    phases = Phases()
    clock = _Clock(endpoint, limit_s)
    sock: _socket.socket | None = None
    try:
        addresses = _resolve(clock, phases)
        sock = _connect_first(clock, addresses, phases)
        tls = _handshake(clock, sock, context, phases) if context is not None else None
        connection = Connection(sock, tls, phases)
        sock = None
        return connection
    except ConnectFailed as failed:
        failed.phases = phases
        raise
    finally:
        if sock is not None:
            sock.close()


def _resolve(clock: _Clock, phases: Phases) -> list[tuple[Any, ...]]:
    """Address family and socket address of each answer, best first; a literal needs no DNS."""
    endpoint = clock.endpoint
    try:
        found = _socket.getaddrinfo(
            endpoint.host,
            endpoint.port,
            type=_socket.SOCK_STREAM,
            flags=_socket.AI_NUMERICHOST,
        )
        return [(family, address) for family, _, _, _, address in found]
    except (OSError, UnicodeError):
        pass  # a name
    begin_ns = time.monotonic_ns()
    try:
        with gevent.Timeout(clock.left_s(), clock.too_late("dns")):
            found = gevent_socket.getaddrinfo(endpoint.host, endpoint.port, 0, _socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: no name can be like this
        raise ConnectFailed("connect_failed", trouble.dns_trouble(endpoint, error)) from None
    finally:
        phases.dns_ns = time.monotonic_ns() - begin_ns
    return [(family, address) for family, _, _, _, address in found]


def _connect_first(
    clock: _Clock, addresses: list[tuple[Any, ...]], phases: Phases
) -> _socket.socket:
    """The first address that accepts; each gets an equal share of the time that is left."""
    begin_ns = time.monotonic_ns()
    failed = clock.too_late("connect")
    try:
        for i, (family, address) in enumerate(addresses):
            share_s = clock.left_s() / (len(addresses) - i)
            try:
                return _connect_one(family, address, share_s)
            except TimeoutError:
                failed = clock.too_late("connect")
            except OSError as error:
                sentence = trouble.connect_trouble(clock.endpoint, error)
                failed = ConnectFailed("connect_failed", sentence)
    finally:
        phases.connect_ns = time.monotonic_ns() - begin_ns
    raise failed


def _connect_one(family: int, address: Any, limit_s: float) -> _socket.socket:
    sock = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        stamps.enable(sock)
        try:
            sock.connect(address)
        except BlockingIOError:
            _wait(sock, WRITABLE, limit_s)
            if code := sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR):
                raise OSError(code, os.strerror(code)) from None
    except BaseException:
        sock.close()
        raise
    return sock


def _handshake(clock: _Clock, sock: _socket.socket, context: ssl.SSLContext, phases: Phases) -> Tls:
    begin_ns = time.monotonic_ns()
    endpoint = clock.endpoint
    tls = Tls(context, endpoint.host)
    try:
        done, to_send = tls.handshake(b"")
        while True:
            while to_send:
                _wait(sock, WRITABLE, clock.left_s())
                to_send = to_send[sock.send(to_send) :]
            if done:
                return tls
            _wait(sock, READABLE, clock.left_s())
            received = sock.recv(PIECE_BYTES)
            if not received:
                raise ConnectFailed("tls_failed", trouble.tls_closed(endpoint))
            done, to_send = tls.handshake(received)
    except TimeoutError:
        raise clock.too_late("tls") from None
    except ssl.SSLError as error:
        raise ConnectFailed("tls_failed", trouble.tls_trouble(endpoint, error)) from None
    except OSError as error:
        sentence = trouble.reset(endpoint, error, has_begun=False)
        raise ConnectFailed("tls_failed", sentence) from None
    finally:
        phases.tls_ns = time.monotonic_ns() - begin_ns


def _wait(sock: _socket.socket, events: int, limit_s: float) -> None:
    wait = gevent_socket.wait_read if events == READABLE else gevent_socket.wait_write
    wait(sock.fileno(), limit_s, TimeoutError("no answer"))
