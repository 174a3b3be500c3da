"""Who knocked at the leader's port without the secret: counted, and named where that is known."""

import logging
import os
import socket
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

log = logging.getLogger(__name__)

REFUSALS = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
ENDS = zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED
MOST_NAMED = 1000


class Strangers:
    """Reads a listening socket's events; one greenlet calls `watch`."""

    def __init__(self, listening: Any) -> None:
        events = zmq.EVENT_ACCEPTED | REFUSALS | ENDS
        self._events: Any = listening.get_monitor_socket(events)
        self._peers: dict[int, str] = {}  # file descriptor -> address
        self._n_unnamed = 0  # refused a moment ago; the event of their end has the descriptor
        self._n_refused: dict[str, int] = {}

    def watch(self) -> None:
        """Loop for ever."""
        while True:
            event = parse_monitor_message(self._events.recv_multipart())
            self.see(event["event"], event["value"])

    def see(self, event: int, value: int) -> None:
        """One event of the socket; value: a file descriptor where it has one."""
        if event == zmq.EVENT_ACCEPTED:
            self._peers[value] = _peer(value)
        elif event & REFUSALS:
            self._n_unnamed += 1
        elif event & ENDS:
            address = self._peers.pop(value, "an address that is not known")
            if self._n_unnamed:
                self._n_unnamed -= 1
                self._count(address)

    def sentences(self) -> list[str]:
        """For the run's notes."""
        if not self._n_refused:
            return []
        n = sum(self._n_refused.values())
        names = ", ".join(sorted(self._n_refused)[:5])
        return [
            f"{n} connections to the leader's port did not have the secret and were turned away: "
            f"from {names}."
        ]

    def _count(self, address: str) -> None:
        if address not in self._n_refused:
            log.warning("%s has not the secret of this run's load workers", address)
        if address in self._n_refused or len(self._n_refused) < MOST_NAMED:
            self._n_refused[address] = self._n_refused.get(address, 0) + 1


def _peer(fd: int) -> str:
    """The address at the other end; it may have gone, and the number be another's, meanwhile."""
    try:
        with socket.socket(fileno=os.dup(fd)) as connection:
            return str(connection.getpeername()[0])
    except OSError:
        return "an address that is not known"
