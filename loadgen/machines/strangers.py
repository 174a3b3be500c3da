"""Who knocked at the leader's port without the secret: counted, and named where that is known."""

import ipaddress
import logging
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

log = logging.getLogger(__name__)

REFUSALS = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
CLOSING = frozenset({"04", "05", "06", "07", "08", "09", "0B"})  # FIN_WAIT1 … CLOSING
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOOK_EVERY_S = 1.0
MOST_NAMED = 1000


class Strangers:
    """Reads a listening socket's events; one greenlet calls `watch`.

    ZeroMQ tells that a handshake failed, but not with whom; the kernel keeps the addresses of
    connections that were closed here a moment ago.  Of one that the stranger closed it may not.
    """

    def __init__(self, listening: Any) -> None:
        self._socket = listening
        self._events: Any = listening.get_monitor_socket(REFUSALS)
        self._looked_s = 0.0
        self._n_refused = 0
        self._addresses: set[str] = set()

    def watch(self) -> None:
        """Loop for ever."""
        while True:
            parse_monitor_message(self._events.recv_multipart())
            self._n_refused += 1
            if not self._addresses or time.monotonic() - self._looked_s > LOOK_EVERY_S:
                self._looked_s = time.monotonic()
                self._name()

    def sentences(self) -> list[str]:
        """For the run's notes."""
        if not self._n_refused:
            return []
        names = ", ".join(sorted(self._addresses)[:5]) or "an address that is not known"
        return [
            f"{self._n_refused} connections to the leader's port did not have the secret and were "
            f"turned away: from {names}."
        ]

    def _name(self) -> None:
        port = int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        for table in TABLES:
            if not table.exists():  # not Linux, or no IPv6
                continue
            for address in closed_peers(table.read_text().split("\n")[1:], port):
                if address not in self._addresses and len(self._addresses) < MOST_NAMED:
                    self._addresses.add(address)
                    log.warning("%s has not the secret of this run's load workers", address)


def closed_peers(rows: Iterable[str], port: int) -> set[str]:
    """The addresses at the other end of connections to `port` that are being, or just were, closed.

    rows: of /proc/net/tcp or tcp6, without their head: sl local_address rem_address st …
    """
    found: set[str] = set()
    for row in rows:
        fields = row.split()
        if len(fields) < 4 or fields[3] not in CLOSING:
            continue
        if int(fields[1].rpartition(":")[2], 16) == port:
            found.add(_address(fields[2].rpartition(":")[0]))
    return found


def _address(written: str) -> str:
    """From the kernel's hexadecimal words, each in the order of a little-endian machine."""
    raw = bytes.fromhex(written)
    address = ipaddress.ip_address(b"".join(raw[i : i + 4][::-1] for i in range(0, len(raw), 4)))
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
