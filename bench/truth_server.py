"""A streaming endpoint that knows to the microsecond what it sent: `python -m bench.truth_server`.

One process, bare epoll, bytes made beforehand, one send() per event at absolute instants counted
from the kernel's arrival stamp of the request.  Lateness does not hurt: the truth is the log of the
real send times (truth_log.py), not the schedule.  OpenAI chat and completions (truth_script.py).
"""

import argparse
import contextlib
import gc
import heapq
import json
import os
import re
import select
import signal
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import truth_script, truth_stamps
from bench.truth_log import ARRIVAL, LEFT, LogWriter
from bench.truth_script import BadRequest, Timing
from bench.truth_tls import TlsSocket, server_context

MAX_EMITS_PER_TURN = 256  # then sockets are looked at again
IDLE_S = 0.1  # longest sleep: log flush, parent check

CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
REQUEST_ID = re.compile(rb"\r\nx-request-id: *([^\r]*)", re.I)


class Connection:
    """One accepted socket, and the answer under way on it."""

    __slots__ = (
        "due_ns", "first_ns", "inbox", "itl_ns", "number", "piece", "pieces", "rest", "send", "sock"
    )  # fmt: skip

    def __init__(self, sock: Any) -> None:
        self.sock = sock  # a socket or a TlsSocket
        self.send = sock.send
        self.inbox = b""
        self.number = 0  # of the request, in the log
        self.piece: tuple[int, bytes] | None = None  # next to go, with its seq; None: idle
        self.pieces: Iterator[tuple[int, bytes]] = iter(())  # after it
        self.due_ns = 0  # monotonic, of `piece`
        self.first_ns = 0  # of token 0
        self.itl_ns = 0
        self.rest = b""  # of a piece the socket did not take whole


class TruthServer:
    """The loop.  `serve()` returns after `stop()`."""

    def __init__(
        self, port: int, log: LogWriter, timing: Timing, tls: ssl.SSLContext | None = None
    ) -> None:
        self._listener = socket.create_server(("127.0.0.1", port), backlog=4096)
        truth_stamps.enable(self._listener)
        self._listener.setblocking(False)
        # Inherited too.  Where BBR is the default it paces: bytes would leave after our stamp.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        self.port: int = self._listener.getsockname()[1]
        self._log, self._timing, self._tls = log, timing, tls
        self._epoll = select.epoll()
        self._epoll.register(self._listener, select.EPOLLIN)
        self._connections: dict[int, Connection] = {}
        self._due: list[tuple[int, int, Connection]] = []  # heap: due_ns, request number
        self._n_requests = 0
        self._running = True

    def stop(self, *_signal: Any) -> None:
        self._running = False

    def serve(self, parent: int | None = None) -> None:
        """Until stopped, or until `parent` is no longer our parent."""
        listener, epoll_fd = self._listener.fileno(), self._epoll.fileno()
        flushed_ns = time.monotonic_ns()
        while self._running:
            now_ns = time.monotonic_ns()
            wait_s = min((self._due[0][0] - now_ns) / 1e9, IDLE_S) if self._due else IDLE_S
            if wait_s > 0:
                if now_ns - flushed_ns > 50_000_000:
                    self._log.flush()
                    flushed_ns = now_ns
                    if parent is not None and os.getppid() != parent:
                        return
                # Not epoll's own timeout: that counts whole milliseconds.
                select.select([epoll_fd], [], [], wait_s)
            for fd, flags in self._epoll.poll(0, 256):
                if fd == listener:
                    self._accept()
                elif flags & select.EPOLLOUT:
                    self._go_on(self._connections[fd])
                else:
                    self._read(self._connections[fd])
            self._emit_due()

    def _emit_due(self) -> None:
        """THE HOT PATH: send what is due; one send() and one log record per event."""
        due, put = self._due, self._log.put
        realtime_ns, monotonic_ns, replace = time.time_ns, time.monotonic_ns, heapq.heapreplace
        mono_ns = monotonic_ns()
        for _ in range(MAX_EMITS_PER_TURN):
            if not due or due[0][0] > mono_ns:
                return
            due_ns, number, connection = due[0]
            if connection.number != number or connection.piece is None:  # it left
                heapq.heappop(due)
                continue
            seq, piece = connection.piece
            at_ns, mono_ns = realtime_ns(), monotonic_ns()
            try:
                n_sent = connection.send(piece)
            except BlockingIOError:
                n_sent = 0
            except OSError:
                self._drop(connection)
                continue
            if n_sent < len(piece):
                heapq.heappop(due)
                connection.rest = piece[n_sent:]
                self._epoll.modify(connection.sock, select.EPOLLIN | select.EPOLLOUT)
                continue
            put(number, seq, at_ns, mono_ns, due_ns)
            if _advance(connection):
                replace(due, (connection.due_ns, number, connection))
            else:
                heapq.heappop(due)
                self._answered(connection)

    def _go_on(self, connection: Connection) -> None:
        """The socket takes bytes again: finish the piece it cut; its truth is this send."""
        if connection.piece is None:
            return
        seq, _ = connection.piece
        at_ns, mono_ns = time.time_ns(), time.monotonic_ns()
        try:
            n_sent = connection.send(connection.rest)
        except BlockingIOError:
            return
        except OSError:
            return self._drop(connection)
        connection.rest = connection.rest[n_sent:]
        if connection.rest:
            return
        self._epoll.modify(connection.sock, select.EPOLLIN)
        self._log.put(connection.number, seq, at_ns, mono_ns, connection.due_ns)
        if _advance(connection):
            heapq.heappush(self._due, (connection.due_ns, connection.number, connection))
        else:
            self._answered(connection)

    def _accept(self) -> None:
        for _ in range(256):
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            of = sock if self._tls is None else TlsSocket(sock, self._tls)
            self._connections[sock.fileno()] = Connection(of)
            self._epoll.register(sock, select.EPOLLIN)

    def _drop(self, connection: Connection) -> None:
        if connection.piece is not None:
            now = (time.time_ns(), time.monotonic_ns())
            self._log.put(connection.number, LEFT, *now, connection.due_ns)
            connection.piece = None
        self._connections.pop(connection.sock.fileno(), None)
        connection.sock.close()  # epoll forgets it too

    def _read(self, connection: Connection) -> None:
        try:
            new, control, _, _ = connection.sock.recvmsg(1 << 16, truth_stamps.ANCILLARY_BYTES)
        except BlockingIOError:
            return
        except OSError:
            new, control = b"", []
        read_ns, mono_ns = time.time_ns(), time.monotonic_ns()
        if not new:
            return self._drop(connection)
        kernel_ns = truth_stamps.kernel_ns(control)
        connection.inbox += new
        if connection.piece is None:
            self._take_request(connection, kernel_ns, read_ns, mono_ns)

    def _answered(self, connection: Connection) -> None:
        if connection.inbox:  # a pipelined request: it has waited, so it counts from now
            self._take_request(connection, 0, time.time_ns(), time.monotonic_ns())

    def _take_request(
        self, connection: Connection, kernel_ns: int, read_ns: int, mono_ns: int
    ) -> None:
        """Begin the answer once the request is whole."""
        head, blank, rest = connection.inbox.partition(b"\r\n\r\n")
        length = CONTENT_LENGTH.search(head)
        n_body = int(length[1]) if length else 0
        if not blank or len(rest) < n_body:
            return
        connection.inbox = rest[n_body:]
        method, target, *_ = [*head.decode("latin-1").split(" ", 2), ""]
        try:
            if method == "GET":
                return _say(connection, 200, _get(target))
            reply = truth_script.answer(target, rest[:n_body], self._timing)
        except BadRequest as error:
            return _say(connection, 400, {"error": {"message": str(error), "code": 400}})
        number, self._n_requests = self._n_requests, self._n_requests + 1
        arrival_ns = mono_ns - (read_ns - kernel_ns) if kernel_ns else mono_ns
        self._log.put(number, ARRIVAL, kernel_ns, arrival_ns, read_ns)
        named = REQUEST_ID.search(head)
        self._log.put_id(number, named[1] if named else b"")
        connection.number, connection.itl_ns = number, reply.timing.itl_ns
        connection.due_ns = arrival_ns
        connection.first_ns = arrival_ns + reply.timing.ttft_ns
        connection.pieces = reply.pieces()
        connection.piece = next(connection.pieces)
        heapq.heappush(self._due, (arrival_ns, number, connection))


def _advance(connection: Connection) -> bool:
    """Go to the next piece; False after the last.  The closing is due with the last token."""
    connection.piece = piece = next(connection.pieces, None)
    if piece is None:
        return False
    if piece[0] > 0:
        connection.due_ns += connection.itl_ns
    elif piece[0] == 0:
        connection.due_ns = connection.first_ns
    return True


def _get(target: str) -> dict[str, Any]:
    if target.endswith("/models"):
        model = {"id": "truth", "object": "model", "owned_by": "headway"}
        return {"object": "list", "data": [model]}
    if target.endswith("/health"):
        return {"status": "ok"}
    raise BadRequest(f"GET {target} is not served; use /v1/models or /health")


def _say(connection: Connection, status: int, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} {'OK' if status == 200 else 'Bad Request'}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with contextlib.suppress(OSError):  # it left; its next read says so
        connection.send(head.encode() + body)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.truth_server", description=__doc__)
    options.add_argument("--port", type=int, default=0, help="0: any free port")
    options.add_argument("--log", type=Path, default=Path(os.devnull))
    options.add_argument("--n", type=int, default=128, help="tokens, where not asked for")
    options.add_argument("--ttft-ms", type=float, default=100)
    options.add_argument("--itl-ms", type=float, default=20)
    options.add_argument("--tls", type=Path, help="PEM file with key and certificate: speak https")
    options.add_argument("--with-parent", action="store_true", help="end when the parent does")
    chosen = options.parse_args()
    timing = Timing(chosen.n, round(chosen.ttft_ms * 1e6), round(chosen.itl_ms * 1e6))
    log = LogWriter(chosen.log)
    server = TruthServer(
        chosen.port, log, timing, server_context(chosen.tls) if chosen.tls else None
    )
    signal.signal(signal.SIGTERM, server.stop)
    signal.signal(signal.SIGINT, server.stop)
    scheme = "https" if chosen.tls else "http"
    sys.stdout.write(f"headway-truth listening on {scheme}://127.0.0.1:{server.port}\n")
    sys.stdout.flush()
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection would be a pause; nothing here makes cycles
    server.serve(os.getppid() if chosen.with_parent else None)
    log.close()


if __name__ == "__main__":
    main()
