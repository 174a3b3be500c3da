"""A simulator to talk to: a process over real sockets, or its service without any."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from simulator.apis import BY_PATH
from simulator.faulty_stream import FaultyStream
from simulator.options import Options
from simulator.service import Came, Service, set_up
from simulator.token_stream import GatheredAnswer, TokenStream
from simulator.wire import Wire

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


class Socket:
    """Keeps what is written to it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


def answered(path: str, body: dict[str, Any], *settings: str, profile: str = "null") -> bytes:
    """The body of an answer: the server's own code and a real engine, without HTTP."""
    return b"".join(asyncio.run(_writes(path, body, (profile, settings))))


async def _writes(
    path: str, body: dict[str, Any], server: tuple[str, tuple[str, ...]]
) -> list[bytes]:
    profile, settings = server
    service, api = Service(set_up(Options(profile=profile, settings=settings))), BY_PATH[path]
    job = service.accept(service.arrival("r1"), api, Came(path, json.dumps(body).encode(), None))
    socket = Socket()
    if job.ask.is_streamed:
        stream = TokenStream(job, Wire(cast(asyncio.WriteTransport, socket), False))
        service.submit(job, FaultyStream(stream, job.ask.fault))
        await stream.ended
    else:
        gathered = GatheredAnswer(job)
        service.submit(job, gathered)
        socket.write(service.whole_answer(job, await gathered.ended))
    service.close()
    return socket.written


def named_events(raw: bytes) -> list[tuple[str, Any]]:
    """Server-sent events with their names."""
    pairs: list[tuple[str, Any]] = []
    for event in raw.decode().split("\n\n")[:-1]:
        name, data = event.split("\n")
        pairs.append((name.removeprefix("event: "), _parsed(data.removeprefix("data: "))))
    return pairs
