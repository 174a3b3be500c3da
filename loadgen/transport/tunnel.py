"""Through a proxy to the server: CONNECT, before TLS or HTTP/2 begins."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import re

from loadgen.transport import trouble
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.patience import ConnectFailed, Patience
from loadgen.version import VERSION

MAX_HEAD_BYTES = 65536
_STATUS = re.compile(rb"HTTP/1\.\d (\d{3}) ?([^\r\n]*)")
_HEAD_END = b"\r\n\r\n"


def open_tunnel(sock: _socket.socket, patience: Patience) -> None:
    """Ask the proxy at the other end for the server; returns when bytes reach it.

    Raises ConnectFailed in the proxy's words, TimeoutError, OSError.
    """
    endpoint = patience.endpoint
    patience.send(sock, connect_request(endpoint))
    head = _head(sock, patience)
    found = _STATUS.match(head)
    if found is None:
        raise ConnectFailed("connect_failed", trouble.no_proxy(endpoint))
    status, reason = int(found[1]), found[2].decode("latin-1").strip()
    if not 200 <= status < 300:
        sentence = trouble.tunnel_refused(endpoint, status, reason)
        raise ConnectFailed("connect_failed", sentence)


def connect_request(endpoint: Endpoint) -> bytes:
    """The bytes that ask for a tunnel to this endpoint."""
    assert endpoint.proxy is not None
    lines = [
        f"CONNECT {endpoint.name} HTTP/1.1",
        f"Host: {endpoint.name}",
        f"User-Agent: headway/{VERSION}",
    ]
    if endpoint.proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {endpoint.proxy.authorization}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _head(sock: _socket.socket, patience: Patience) -> bytes:
    """The head of the answer and not a byte more: what follows is the server's."""
    head = b""
    while _HEAD_END not in head and len(head) < MAX_HEAD_BYTES:
        seen = patience.receive(sock, _socket.MSG_PEEK)
        if not seen:
            break
        end = (head + seen).find(_HEAD_END)
        ours = len(seen) if end < 0 else end + len(_HEAD_END) - len(head)
        head += sock.recv(ours)
    return head
