"""`headway worker` processes on loopback addresses, for runs with load workers elsewhere."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

CLI = Path(__file__).resolve().parents[2] / "cli.py"
SECRET = "a-secret-for-the-load-workers"
HOST = "127.0.0.2"
CLOSED = {"concurrency": 6, "requests": 60}


class Outposts:
    """Started by a test, ended with it; each has a data folder and a log of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.started: list[subprocess.Popen] = []

    def start(
        self, address: str, *options: str, within: tuple[str, ...] = (), **env: str
    ) -> subprocess.Popen:
        """within: a command that runs another one in a world of its own."""
        n = len(self.started)
        (self._folder / f"data{n}").mkdir()
        with self.log(n).open("wb") as log:
            process = subprocess.Popen(
                [*within, sys.executable, str(CLI), "worker", "--master", address, *options],
                env={**os.environ, "HEADWAY_DATA": str(self._folder / f"data{n}"), **env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def log(self, n: int) -> Path:
        return self._folder / f"outpost{n}.log"

    def data(self, n: int) -> Path:
        return self._folder / f"data{n}" / "worker"

    def end(self) -> None:
        for process in self.started:
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()


def load_worker(outpost: subprocess.Popen) -> psutil.Process:
    """The load worker that an outpost started."""
    children = psutil.Process(outpost.pid).children()
    return next(p for p in children if "loadgen.locustfile" in p.cmdline())


def free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Line:
    """A TCP line to a port, which a test may cut and mend: `address` leads to `target`."""

    def __init__(self, target: tuple[str, int], host: str) -> None:
        self._target = target
        self._listening = socket.create_server((host, 0))
        self.address = f"{host}:{self._listening.getsockname()[1]}"
        self._ends: list[socket.socket] = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_cut = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self.cut()
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                if self._is_cut:
                    raise ConnectionError
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            self._ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(target: tuple[str, int], host: str = "127.0.0.3") -> Iterator[Line]:
    line = Line(target, host)
    try:
        yield line
    finally:
        line.close()


def machines(port: int, **more: object) -> dict:
    """The plan's table for two workers at a port."""
    return {"workers": 2, "bind": HOST, "port": port, "secret_env": "LOAD_SECRET", **more}


def join(outposts: Outposts, port: int, n: int = 2) -> list[subprocess.Popen]:
    return [outposts.start(f"{HOST}:{port}", "--secret-env", "LOAD_SECRET") for _ in range(n)]


def measuring(state: dict) -> bool:
    return state["state"] == "running" and state["done"] >= 6


def facts(runs, run: str) -> dict:
    return runs.folder(run).read("run.json")


def assert_said(pattern: str, sentences: list[str]) -> None:
    assert any(re.search(pattern, s) for s in sentences), sentences
