"""The addresses behind a name: asked for once per run, kept, and asked for again when all fail."""

import _socket  # gevent replaces the socket module
import time
from collections.abc import Callable, Sequence
from typing import Any

from gevent.lock import BoundedSemaphore

from loadgen.transport.connection import Phases

Address = tuple[int, Any]  # family and socket address
Resolve = Callable[[str, int, int, int], Sequence[tuple[Any, ...]]]  # as socket.getaddrinfo
RENEW_EVERY_NS = 1_000_000_000


class Addresses:
    """Thousands of connections share one lookup, whose time is noted where it really happened.

    Connections go round the good addresses of one family, as they would if each asked the name
    server: a name may stand for many servers.  One that failed goes last for the rest of the run,
    so that a dead family costs its wait only once.  is_literal: there is no name to look up.
    """

    def __init__(self, host: str, port: int, resolve: Resolve) -> None:
        self._host, self._port, self._resolve = host, port, resolve
        self._known = _literal(host, port)
        self.is_literal = bool(self._known)
        self._failed: set[Address] = set()
        self._turn = 0
        self._renewed_ns = -RENEW_EVERY_NS
        self._lock = BoundedSemaphore(1)

    def get(self, phases: Phases) -> list[Address]:
        """Every address in the order to try; phases.dns_ns is set if that took a lookup.

        Raises OSError or UnicodeError (no name can be like this) when there are none.
        """
        with self._lock:  # whoever comes during the first lookup waits for it
            if not self._known:
                self._known = self._lookup(phases)
            return self._in_order()

    def renew(self, tried: Sequence[Address], phases: Phases) -> list[Address]:
        """After every address failed: those of a new lookup that were not tried yet.

        At most one lookup a second, for when a server goes away thousands of connections fail.
        Raises as get does.
        """
        if self.is_literal:
            return []
        with self._lock:
            if set(self._known) <= set(tried):  # else another connection has asked meanwhile
                now_ns = time.monotonic_ns()
                if now_ns - self._renewed_ns < RENEW_EVERY_NS:
                    return []
                self._renewed_ns = now_ns
                self._known = self._lookup(phases)
            return [address for address in self._in_order() if address not in tried]

    def worked(self, address: Address, is_open: bool) -> None:
        """Remember how it went; the next connections start with what worked."""
        if is_open:
            self._failed.discard(address)
        else:
            self._failed.add(address)

    def _lookup(self, phases: Phases) -> list[Address]:
        begin_ns = time.monotonic_ns()
        try:
            found = self._resolve(self._host, self._port, 0, _socket.SOCK_STREAM)
        finally:
            phases.dns_ns = (phases.dns_ns or 0) + time.monotonic_ns() - begin_ns
        return [(family, address) for family, _, _, _, address in found]

    def _in_order(self) -> list[Address]:
        good = [a for a in self._known if a not in self._failed] or self._known
        turning = [a for a in good if a[0] == good[0][0]]
        start, self._turn = self._turn % len(turning), self._turn + 1
        first = turning[start:] + turning[:start]
        rest = [a for a in good if a not in turning]
        return first + rest + [a for a in self._known if a not in good]


def _literal(host: str, port: int) -> list[Address]:
    """An address written as such; empty for a name.  It needs no name server."""
    flags = _socket.AI_NUMERICHOST
    try:
        found = _socket.getaddrinfo(host, port, type=_socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError):
        return []
    return [(family, address) for family, _, _, _, address in found]
