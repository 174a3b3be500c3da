"""The least any client can do: epoll, recvmsg, kernel stamp, throw away.  A floor for ratios.

`python -m bench.bare_client URL MODEL N_STREAMS N_TOKENS TTFT_MS ITL_MS` prints one JSON line.
"""

import json
import select
import socket
import sys
import time
from urllib.parse import urlsplit

SO_TIMESTAMPING, RX_SOFTWARE_AND_REPORT = 37, 24
END = b"0\r\n\r\n"


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    sock = socket.create_connection((parts.hostname or "", parts.port or 80))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE_AND_REPORT)
    sock.setblocking(False)
    return sock


def request(model: str, n_tokens: int, ttft_ms: float, itl_ms: float) -> bytes:
    """One request the truth server understands, and the simulator too (which ignores the pace)."""
    message = {"role": "user", "content": "say something"}
    body = {"model": model, "messages": [message], "stream": True, "max_tokens": n_tokens}
    raw = json.dumps(body | {"ignore_eos": True, "ttft_ms": ttft_ms, "itl_ms": itl_ms}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(raw)}\r\n"
    return (head + "Content-Type: application/json\r\n\r\n").encode() + raw


def drain(socks: list[socket.socket]) -> int:
    """Read every stream to its end; returns the number of reads."""
    by_fd = {s.fileno(): s for s in socks}
    epoll = select.epoll()
    for fd in by_fd:
        epoll.register(fd, select.EPOLLIN)
    n_open, n_reads = len(socks), 0
    while n_open:
        for fd, _ in epoll.poll():
            received, _, _, _ = by_fd[fd].recvmsg(65536, 64)
            n_reads += 1
            assert n_reads > 1 or b" 200 OK\r\n" in received, received
            if not received or received.endswith(END):
                n_open -= 1
                epoll.unregister(fd)
    return n_reads


def main() -> None:
    url, model, n_streams, n_tokens, ttft_ms, itl_ms = sys.argv[1:]
    socks = [connect(url) for _ in range(int(n_streams))]
    asked = request(model, int(n_tokens), float(ttft_ms), float(itl_ms))
    begin, cpu = time.perf_counter(), time.process_time()
    for sock in socks:
        sock.send(asked)
    n_reads = drain(socks)
    found = {
        "wall_s": time.perf_counter() - begin,
        "cpu_s": time.process_time() - cpu,
        "reads": n_reads,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
