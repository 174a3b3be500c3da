"""Processes a bench starts and the CPU time it reads off them."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent


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


def cpu_s(pid: int) -> float:
    """CPU seconds (user and system) the process has used."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system
