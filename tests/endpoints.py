"""An HTTP endpoint that answers by a function of ours, in threads of this process."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answered = tuple[int, str, bytes]
"""Status, content type, body."""

STREAM = "text/event-stream"
JSON = "application/json"


def event(value: Any) -> bytes:
    return b"data: %s\n\n" % json.dumps(value).encode()


def token(text: str, finish: str | None = None) -> bytes:
    delta = {"content": text}
    return event({"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
DONE = b"data: [DONE]\n\n"
GOOD: Answered = (200, STREAM, token("a") + token("b", "stop") + DONE)
GOOD_WITH_USAGE: Answered = (200, STREAM, token("a") + token("b", "stop") + USAGE + DONE)


def refusal(status: int, **error: Any) -> Answered:
    return status, JSON, json.dumps({"error": error}).encode()


@contextmanager
def endpoint(answer: Callable[[int, dict[str, Any]], Answered]) -> Iterator[str]:
    """The URL of a server that answers its n-th request (from 1) with answer(n, body)."""
    n_asked, lock = 0, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            nonlocal n_asked
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                n_asked += 1
                n = n_asked
            status, kind, body = answer(n, asked)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
