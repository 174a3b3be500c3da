"""The sockets between a leader and its workers: Locust's messages, with keys, limits, heartbeats.

Locust frames a message as msgpack of (type, data, node id); so do we, and both kinds of process,
Locust's load worker and the outpost that keeps one on another machine, meet at one port.
"""

import socket
import time
from dataclasses import dataclass, replace
from typing import Any

import msgpack
import zmq

from loadgen.machines.secret import LeaderKeys

MOST_BYTES_IN = 1 << 20  # to the leader: a piece has 256 KiB, all else is small
MOST_BYTES_OUT = 64 << 20  # from it: a plan may list a table
HEARTBEAT_MS = 1000  # ZeroMQ's own: a cut that no packet tells of is noticed, and mended
SILENT_MS = 5000
PROBE_S = 2.0


@dataclass(frozen=True, slots=True)
class Message:
    """One message, its fields named as Locust names them."""

    type: str
    data: Any
    node_id: str
    address: str = ""  # of the connection it came by


def pack(message: Message) -> bytes:
    """As Locust writes one."""
    return msgpack.packb((message.type, message.data, message.node_id)) or b""


def unpack(frame: bytes) -> Message | None:
    """None for what is no message of Locust's form: anyone may write to an open port."""
    try:
        found = msgpack.unpackb(frame, raw=False, strict_map_key=False)
        kind, content, node_id = found
    except Exception:  # one edge: whatever a stranger's bytes do to the reader
        return None
    if not isinstance(kind, str) or not isinstance(node_id, str):
        return None
    return Message(kind, content, node_id)


def received(frames: list[Any]) -> Message | None:
    """What came at the leader's port: its sender's identity, then the message.

    None for bytes of no such form, or of a sender that calls itself by another's name.
    """
    if len(frames) != 2:
        return None
    message = unpack(frames[1].bytes)
    if message is None or message.node_id.encode() != frames[0].bytes:
        return None
    try:
        address = frames[1].get("Peer-Address")
    except zmq.ZMQError:  # not of a TCP connection
        address = ""
    return replace(message, address=address or "")


def _guard(end: Any, most_bytes: int) -> None:
    end.setsockopt(zmq.MAXMSGSIZE, most_bytes)
    end.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
    end.setsockopt(zmq.HEARTBEAT_TIMEOUT, SILENT_MS)
    end.setsockopt(zmq.LINGER, 0)


def lock(port: Any, keys: LeaderKeys | None) -> None:
    """The leader's side, before bind."""
    _guard(port, MOST_BYTES_IN)
    if keys is not None:
        port.curve_server = True
        port.curve_publickey, port.curve_secretkey = keys.public, keys.private
    port.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a worker that connects again is still itself


def unlock(client: Any, keys: LeaderKeys | None) -> None:
    """A worker's side, before connect."""
    _guard(client, MOST_BYTES_OUT)
    if keys is not None:
        client.curve_publickey, client.curve_secretkey = zmq.curve_keypair()
        client.curve_serverkey = keys.public


class Refused(Exception):
    """What listens at the leader's port broke the handshake off."""


def speaks_zeromq(host: str, port: int) -> bool:
    """Whether whoever listens there begins to speak as ZeroMQ does (ZMTP 3.1, 3.2: the signature).

    A tunnel takes a connection, too, and drops it while no leader is at its other end.
    """
    try:
        with socket.create_connection((host, port), PROBE_S) as connection:
            signature = connection.recv(10)
    except OSError:
        return False
    return signature[:1] == b"\xff" and signature[9:10] == b"\x7f"


class Wire:
    """An outpost's connection to the leader; it is made again by itself whenever it breaks."""

    def __init__(self, address: str, node_id: str, keys: LeaderKeys | None) -> None:
        self._node_id = node_id
        self._socket = zmq.Context.instance().socket(zmq.DEALER)
        unlock(self._socket, keys)
        self._socket.setsockopt(zmq.IDENTITY, node_id.encode())
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # nothing piles up for a leader that is not there
        self._socket.setsockopt(zmq.IPV6, 1)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 200)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
        refusals = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
        self._monitor = self._socket.get_monitor_socket(refusals)
        self._socket.connect(f"tcp://{address}")

    def send(self, content: dict[str, Any]) -> bool:
        """False if there is no connection now: say it again later."""
        try:
            self._socket.send(pack(Message("outpost", content, self._node_id)), zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def receive(self, within_s: float) -> dict[str, Any] | None:
        """The next message; None if none came.  Raises Refused."""
        if self._monitor.poll(0):
            self._monitor.recv_multipart()
            raise Refused
        if not self._socket.poll(round(within_s * 1000)):
            return None
        message = unpack(self._socket.recv())
        if message is None or message.type != "outpost" or not isinstance(message.data, dict):
            return None
        return {**message.data, "received_ns": time.monotonic_ns()}

    def close(self) -> None:
        """What was not sent is dropped."""
        self._socket.disable_monitor()
        self._socket.close(0)
