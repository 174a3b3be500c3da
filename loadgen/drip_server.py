"""Drips one answer and says when: `python -I -S drip_server.py N GAP_MS`, for drip.py.

Standard library only and one connection only, so that it is there within some 30 ms.  stdout: the
port; then, after the answer, a JSON list of CLOCK_MONOTONIC in ns just before each token's send.
It ends by itself, also if nobody comes.
"""

import socket
import sys
import time

PATIENCE_S = 10.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
TOKEN = b'{"id":"drip","choices":[{"index":0,"delta":{"content":"%d "},"finish_reason":null}]}'
FINISH = b'{"id":"drip","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'


def main(n: int, gap_ns: int) -> None:
    """Listen, answer one request with n tokens, say when each of them was sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        # Where BBR is the default it paces: bytes would leave after our note of the time.
        if hasattr(socket, "TCP_CONGESTION"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        _say(str(listener.getsockname()[1]))
        connection, _ = listener.accept()
    with connection:
        connection.settimeout(PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _read_request(connection)
        _say(str(_drip(connection, n, gap_ns)))
        connection.recv(1)  # the client closes first


def _drip(connection: socket.socket, n: int, gap_ns: int) -> list[int]:
    """Each token at its absolute instant, alone in its segment; then the end."""
    connection.sendall(HEAD)
    begin_ns, sent_ns = time.monotonic_ns(), list[int]()
    for k in range(n):
        piece = _chunk(TOKEN % k)
        _wait_until(begin_ns + (k + 1) * gap_ns)
        sent_ns.append(time.monotonic_ns())
        connection.sendall(piece)
    _wait_until(begin_ns + (n + 1) * gap_ns)
    connection.sendall(_chunk(FINISH) + _chunk(b"[DONE]") + b"0\r\n\r\n")
    return sent_ns


def _chunk(payload: bytes) -> bytes:
    event = b"data: %s\n\n" % payload
    return b"%x\r\n%s\r\n" % (len(event), event)


def _wait_until(instant_ns: int) -> None:
    time.sleep(max(0.0, (instant_ns - time.monotonic_ns()) / 1e9))


def _read_request(connection: socket.socket) -> None:
    head, body = b"", b""
    while not body and b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    head, _, body = head.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) * 1_000_000)
