"""A small HTTP server with a tokenizer: /tokenize as several servers have it, and usage."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tokenizers import Tokenizer

TEMPLATE_TOKENS = 12


class Counting(http.server.BaseHTTPRequestHandler):
    """field: where /tokenize takes the text, "" = there is none; usage: whether answers tell it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    tokenizer: Tokenizer
    field = ""
    usage = True
    paths: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.paths.append(self.path)
        if self.path == "/tokenize":
            self._tokenize(body)
        elif self.path.startswith("/v1/chat"):
            self._chat(body)
        else:
            self._answer(404, {"error": "no such path"})

    def _tokenize(self, body: dict[str, Any]) -> None:
        if not self.field:
            return self._answer(404, {"error": "no such path"})
        if self.field not in body:
            # llama.cpp answers an unknown body with no tokens, the others refuse it.
            void = {"tokens": []} if self.field == "content" else {"error": "what?"}
            return self._answer(200 if self.field == "content" else 422, void)
        ids = self.tokenizer.encode(body[self.field], add_special_tokens=False).ids
        if self.field == "prompt":
            return self._answer(200, {"count": len(ids), "max_model_len": 9, "tokens": ids})
        if self.field == "content":
            return self._answer(200, {"tokens": ids})
        return self._answer(200, [{"id": i, "text": "", "start": 0, "stop": 0} for i in ids])

    def _chat(self, body: dict[str, Any]) -> None:
        text = body["messages"][-1]["content"]
        n = len(self.tokenizer.encode(text).ids) + TEMPLATE_TOKENS
        told = {"usage": {"prompt_tokens": n, "completion_tokens": 1}} if self.usage else {}
        choice = {"index": 0, "message": {"role": "assistant", "content": "x"}}
        self._answer(200, {"choices": [choice], **told})

    def _answer(self, status: int, body: Any) -> None:
        said = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@contextmanager
def counting_server(
    tokenizer: Tokenizer, field: str = "", usage: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """(its URL, the paths it was asked for so far)."""
    paths: list[str] = []
    fields = {"tokenizer": tokenizer, "field": field, "usage": usage, "paths": paths}
    handler = type("Handler", (Counting,), fields)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", paths
    finally:
        server.shutdown()
        server.server_close()
