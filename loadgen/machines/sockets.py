"""The two ends of Locust's channel, as Locust's runners want them, with our keys and limits.

Locust would die of bytes that are no message of its own, and knows no secret.
"""

from typing import Any, Protocol

import gevent
import zmq.green as zmq

from loadgen.machines import channel
from loadgen.machines.secret import LeaderKeys
from loadgen.machines.strangers import Strangers


class Packed(Protocol):
    """A message of Locust's making."""

    node_id: str

    def serialize(self) -> bytes:
        """Its bytes."""
        ...


class Port:
    """The leader's: every worker and outpost connects to it (in place of Locust's rpc.Server)."""

    def __init__(self, keys: LeaderKeys | None, host: str, port: int) -> None:
        self._socket: Any = zmq.Context.instance().socket(zmq.ROUTER)
        channel.lock(self._socket, keys)
        self._socket.setsockopt(zmq.IPV6, ":" in host or host == "*")
        self.strangers = Strangers(self._socket)
        gevent.spawn(self.strangers.watch)
        self._socket.bind(f"tcp://{_bracketed(host)}:{port or '*'}")
        self.port = int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])

    def send_to_client(self, message: Packed) -> None:
        """To whoever it names; dropped if that connection does not stand."""
        self._socket.send_multipart([message.node_id.encode(), message.serialize()])

    def recv_from_client(self) -> tuple[str, channel.Message]:
        """The next message that is one, with its sender."""
        while True:
            found = channel.received(self._socket.recv_multipart(copy=False))
            if found is not None:
                return found.node_id, found

    def close(self, linger: int | None = None) -> None:
        """As Locust calls it."""
        self._socket.close(linger=linger)


class Client:
    """A load worker's (in place of Locust's rpc.Client)."""

    def __init__(self, keys: LeaderKeys | None, host: str, port: int, identity: str) -> None:
        self._socket: Any = zmq.Context.instance().socket(zmq.DEALER)
        channel.unlock(self._socket, keys)
        self._socket.setsockopt(zmq.IPV6, True)
        self._socket.setsockopt(zmq.IDENTITY, identity.encode())
        self._socket.connect(f"tcp://{_bracketed(host)}:{port}")

    def send(self, message: Packed) -> None:
        """Queued while the connection is cut; dropped once the queue is full."""
        try:
            self._socket.send(message.serialize(), zmq.NOBLOCK)
        except zmq.Again:
            return

    def recv(self) -> channel.Message:
        """The next message."""
        while True:
            if (found := channel.unpack(self._socket.recv())) is not None:
                return found

    def close(self, linger: int | None = None) -> None:
        """As Locust calls it."""
        self._socket.close(linger=linger)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
