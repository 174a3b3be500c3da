"""A blocking socket client that knows nothing of Headway: what did really come over the wire?"""

import json
import socket
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Answer:
    status: int
    events: list[str]  # each SSE event's data
    arrived_ns: list[int]  # monotonic, when each HTTP chunk was read
    chunks: list[bytes]


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def request(path: str, body: dict[str, Any] | None, x_request_id: str = "") -> bytes:
    raw = json.dumps(body).encode() if body is not None else b""
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\n"
    head += f"X-Request-Id: {x_request_id}\r\n" if x_request_id else ""
    return (head + f"Content-Length: {len(raw)}\r\n\r\n").encode() + raw


def read_answer(sock: socket.socket) -> Answer:
    """Read one response: chunked, or with a content length."""
    stream = sock.makefile("rb")
    status = int(stream.readline().split()[1])
    headers = {}
    while (line := stream.readline()) != b"\r\n":
        name, value = line.decode().split(":", 1)
        headers[name.lower()] = value.strip()
    if "content-length" in headers:
        return Answer(status, [], [], [stream.read(int(headers["content-length"]))])
    assert headers["transfer-encoding"] == "chunked"
    chunks, arrived_ns = [], []
    while n_bytes := int(stream.readline(), 16):
        chunks.append(stream.read(n_bytes))
        arrived_ns.append(time.monotonic_ns())
        assert stream.read(2) == b"\r\n"
    assert stream.readline() == b"\r\n"
    data = [e.removeprefix("data: ") for e in b"".join(chunks).decode().split("\n\n")[:-1]]
    return Answer(status, data, arrived_ns, chunks)


def ask(sock: socket.socket, path: str, body: dict[str, Any] | None, x_id: str = "") -> Answer:
    sock.sendall(request(path, body, x_id))
    return read_answer(sock)
