"""A key stays in the environment, whatever the server says back."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from loadgen import launch

pytestmark = pytest.mark.slow
KEY = "canary-7f3a9b-key"
ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class Echo(BaseHTTPRequestHandler):
    """Answers well at first, then with errors that repeat the key."""

    seen = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Echo.seen += 1
        good = Echo.seen <= 2
        body = ANSWER if good else f"bad key: {self.headers['Authorization']}".encode()
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "text/event-stream" if good else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def echo():
    Echo.seen = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_key_that_the_server_echoes_reaches_no_file(runs, echo, monkeypatch):
    monkeypatch.setenv("CANARY", KEY)
    target = {"url": echo, "model": "m", "api_key_env": "CANARY"}
    work = {"count_by": "words"}  # else counting prompts would use up the good answers
    run = runs.start({"concurrency": 1, "requests": 6}, target=target, workload=work)
    assert runs.end(run)["state"] == "finished"
    second = runs.start({"concurrency": 1, "requests": 1}, target=target)  # fails at once
    assert runs.end(second)["state"] == "failed"
    details = runs.requests(run)["detail"].dropna()
    assert details.str.contains("bad key: Bearer").any()
    assert details.str.contains("key removed").any()
    assert "key removed" in launch.state(runs.data, second)["message"]
    everything = runs.store.ask("requests", run=run).to_csv() + runs.store.ask("runs").to_csv()
    assert KEY not in everything
    for path in runs.data.rglob("*"):
        if path.is_file() and path.suffix != ".duckdb":
            assert KEY.encode() not in path.read_bytes(), path
