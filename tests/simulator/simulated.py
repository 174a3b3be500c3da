"""A simulator process to talk to over real sockets."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
READY = "headway-simulator listening on http://127.0.0.1:"
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


def start(*arguments: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simulator.server", *arguments],
        cwd=PROJECT,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Server:
    """A started simulator."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(READY), line + (process.communicate()[1] if not line else "")
        self.process = process
        self.port = int(line.removeprefix(READY))

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def ask(
        self, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and whole body; GET without a body, POST with one (bytes go as they are)."""
        connection = self.connect()
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("GET" if raw is None else "POST", path, raw, headers or {})
        response = connection.getresponse()
        answer = response.status, response.read()
        connection.close()
        return answer

    def stream(self, path: str, body: dict[str, Any], **headers: str) -> list[Any]:
        """The events of a streamed 200: parsed JSON, or the text where it is none."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        status, raw = self.ask(path, {"stream": True, **body}, names)
        assert status == 200, raw
        return events(raw)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's samples that carry `labels`."""
        lines = self.ask("/metrics")[1].decode().splitlines()
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        mine = [line for line in lines if line.startswith(name + "{")]
        values = [float(line.rsplit(" ", 1)[1]) for line in mine if all(w in line for w in wanted)]
        assert values, f"{name} is not on the page"
        return sum(values)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)


def events(raw: bytes) -> list[Any]:
    texts = [part.removeprefix("data: ") for part in raw.decode().split("\n\n") if part]
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


@contextmanager
def simulator(*arguments: str, **env: str) -> Iterator[Server]:
    process = start("--port", "0", *arguments, **env)
    try:
        yield Server(process)
    finally:
        process.terminate()
        process.communicate(timeout=10)


def words_of(stream: list[Any]) -> list[str]:
    """The text pieces of a chat or completions stream, in order."""
    pieces: list[str] = []
    for event in stream:
        for choice in event["choices"] if isinstance(event, dict) else ():
            delta = choice.get("delta", {})
            text = delta.get("content") or delta.get("reasoning_content") or choice.get("text")
            pieces += [text] if text else []
    return pieces
