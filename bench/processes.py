"""Processes a bench starts and the CPU time it reads off them."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class BareRun:
    """What the bare client needed for `n_events` token events."""

    n_events: int
    wall_s: float
    cpu_s: float
    reads: int


@contextmanager
def server(module: str, *options: str) -> Generator[tuple[str, int]]:
    """Run `python -m MODULE OPTIONS` until the block ends; yields its URL and pid.

    The module prints `NAME listening on URL` once it serves.
    """
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert " listening on " in line, f"{module} said {line!r} instead of where it listens"
            yield line.split()[-1], process.pid
        finally:
            process.terminate()
            process.wait(10)


def truth_server(log: Path, *options: str) -> AbstractContextManager[tuple[str, int]]:
    """A truth server on a free port that writes `log`; yields (url, pid)."""
    return server("bench.truth_server", "--with-parent", "--log", str(log), *options)


@contextmanager
def apart() -> Generator[int | None]:
    """While the block lasts, what we start leaves the last core alone; yields it (None: one core).

    A core for the server and the others for the client is how two machines would be.
    """
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        yield None
        return
    last = max(before)
    os.sched_setaffinity(0, before - {last})
    try:
        yield last
    finally:
        os.sched_setaffinity(0, before)


def pin(pid: int, core: int | None) -> None:
    """Give a process one core; None leaves it where it is."""
    if core is not None:
        os.sched_setaffinity(pid, {core})


def cpu_s(pid: int) -> float:
    """CPU seconds (user and system) the process has used."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def bare_client(
    url: str, n_streams: int, n_tokens: int, pace_ms: tuple[float, float], model: str = "truth"
) -> BareRun:
    """Stream with the bare client in a process of its own; pace_ms: TTFT and ITL."""
    words = [url, model, str(n_streams), str(n_tokens), *map(str, pace_ms)]
    command = [sys.executable, "-m", "bench.bare_client", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return BareRun(n_events=n_streams * n_tokens, **json.loads(done.stdout))
