"""A server that follows a script, and a spool in memory."""

import contextlib
import socket
import threading
import time

from loadgen.transport.call import Call
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.pool import Pool
from loadgen.transport.request import http_request

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE_EVENT = b"data: [DONE]\n\n"
LAST_CHUNK = b"0\r\n\r\n"


def chunk(payload):
    return b"%x\r\n%s\r\n" % (len(payload), payload)


class MemorySpool:
    """Keeps what the transport hands over."""

    def __init__(self):
        self.opened, self.closed, self.reads = {}, {}, []

    def open(self, request_id, meta, mono_ns):
        assert request_id not in self.opened
        self.opened[request_id] = meta

    def read(self, request_id, mono_ns, delay_ns, poll_ns, data):
        assert type(data) is bytes
        self.reads.append((request_id, mono_ns, delay_ns, poll_ns, data))

    def close(self, request_id, meta, mono_ns):
        assert request_id not in self.closed
        self.closed[request_id] = meta

    def tick(self, now_ns):
        pass

    def received(self, request_id):
        return b"".join(data for k, *_, data in self.reads if k == request_id)


class ScriptedServer:
    """Runs `script(connection, n)` in a thread for the n-th connection it accepts."""

    def __init__(self, script, family=socket.AF_INET, wrap=lambda connection: connection):
        self._script, self._wrap = script, wrap
        host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        self._listener = socket.create_server((host, 0), family=family, backlog=512)
        self.host, self.port = self._listener.getsockname()[:2]
        self.accepted = 0
        self.requests = []
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def endpoint(self, scheme="http"):
        return Endpoint(scheme, self.host, self.port)

    def read_request(self, connection):
        """One request with its body; empty at the end of the connection."""
        raw = bytearray()
        while b"\r\n\r\n" not in raw:
            piece = connection.recv(65536)
            if not piece:
                return b""
            raw += piece
        head, _, body = raw.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append((bytes(head), bytes(body)))
        return bytes(head)

    def close(self):
        self._listener.close()
        for connection in self._open:
            connection.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.accepted += 1
                threading.Thread(
                    target=self._serve, args=(connection, self.accepted), daemon=True
                ).start()

    def _serve(self, connection, n):
        self._open.append(connection)
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wrapped = self._wrap(connection)
            self._open.append(wrapped)
            self._script(wrapped, n)
            wrapped.close()


class Asker:
    """One pool and its spool; requests numbered from 0."""

    def __init__(self, endpoint, timeouts, **options):
        self.spool = MemorySpool()
        self.endpoint = endpoint
        self.pool = Pool(endpoint, self.spool, timeouts, **options)
        self._asked = 0

    def ask(self, body=b"{}"):
        return self.pool.perform(self._call(body))

    def begin(self, on_done, body=b"{}"):
        self.pool.begin(self._call(body), on_done)

    def _call(self, body):
        request_id, self._asked = self._asked, self._asked + 1
        raw = http_request(self.endpoint, "/v1/chat/completions", {}, body)
        return Call(request_id, raw, {"request_id": request_id})

    def closed(self, request_id=0):
        return self.spool.closed[request_id]


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answers(*pieces, pause_s=0.0, then_close=False):
    """A script that answers each request with these pieces; the connection stays unless said."""

    def script(connection, _n):
        while script.server.read_request(connection):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause_s)
            if then_close:
                return

    return script


def started(serve, script, **options):
    server = serve(script, **options)
    script.server = server
    return server


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
