"""From addresses to a connected TCP socket with stamps on."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import os
import time

import gevent

from loadgen.transport import stamps, trouble
from loadgen.transport.addresses import Address, Addresses
from loadgen.transport.connection import WRITABLE, Phases
from loadgen.transport.patience import ConnectFailed, Patience, TooLate, wait


def dial(addresses: Addresses, patience: Patience, phases: Phases) -> _socket.socket:
    """A socket connected to the first address that accepts; phases gain dns_ns and connect_ns.

    When all kept addresses fail, the name is looked up once more, for the server may have moved;
    an address that says nothing is left a share of the limit before.  Raises ConnectFailed.
    """
    tried = _looked_up(addresses, patience, phases)
    was_kept = phases.dns_ns is None and not addresses.is_literal
    begin_ns = time.monotonic_ns()
    try:
        if not was_kept:
            return _first(tried, addresses, patience)
        try:
            return _first(tried, addresses, patience, spare_shares=1)
        except ConnectFailed as failed:
            others = _looked_up_again(tried, addresses, patience, phases)
            if not others and not isinstance(failed, TooLate):
                raise
        return _first(others or tried, addresses, patience)  # it may just be slow to accept
    finally:
        lookup_ns = (phases.dns_ns or 0) if was_kept else 0
        phases.connect_ns = time.monotonic_ns() - begin_ns - lookup_ns


def _looked_up(addresses: Addresses, patience: Patience, phases: Phases) -> list[Address]:
    try:
        with gevent.Timeout(patience.left_s(), patience.too_late("dns")):
            return addresses.get(phases)
    except (OSError, UnicodeError) as error:  # UnicodeError: no name can be like this
        sentence = trouble.dns_trouble(patience.endpoint, error)
        raise ConnectFailed("connect_failed", sentence) from None


def _looked_up_again(
    tried: list[Address], addresses: Addresses, patience: Patience, phases: Phases
) -> list[Address]:
    """Empty if the name server cannot be asked: why the connection failed says more."""
    try:
        with gevent.Timeout(patience.left_s(), patience.too_late("dns")):
            return addresses.renew(tried, phases)
    except (OSError, UnicodeError, ConnectFailed):
        return []


def _first(
    wanted: list[Address], addresses: Addresses, patience: Patience, spare_shares: int = 0
) -> _socket.socket:
    """The first that accepts; each gets an equal share of the time that is left."""
    failed: ConnectFailed = patience.too_late("connect")
    for i, address in enumerate(wanted):
        share_s = patience.left_s() / (len(wanted) - i + spare_shares)
        try:
            sock = _connected(address, share_s)
        except TimeoutError:
            failed = patience.too_late("connect")
        except OSError as error:
            sentence = trouble.connect_trouble(patience.endpoint, error)
            failed = ConnectFailed("connect_failed", sentence)
        else:
            addresses.worked(address, is_open=True)
            return sock
        addresses.worked(address, is_open=False)
    raise failed


def _connected(address: Address, limit_s: float) -> _socket.socket:
    family, place = address
    sock = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        stamps.enable(sock)
        try:
            sock.connect(place)
        except BlockingIOError:
            wait(sock, WRITABLE, limit_s)
            if code := sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR):
                raise OSError(code, os.strerror(code)) from None
    except BaseException:
        sock.close()
        raise
    return sock
