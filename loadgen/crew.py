"""The processes of a run besides its leader: load workers, their decoders, a simulator."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable

import gevent

from loadgen.plan import MAIN_TARGET, Target
from loadgen.run_folder import RunFolder
from loadgen.simulated import simulator_arguments

READY = "headway-simulator listening on "
SIMULATOR_START_S = 15
MOST_RESTARTS = 5


class CrewError(RuntimeError):
    """A process of the run could not be started; the message says which and why."""


class Crew:
    """Children of the leader, in its process group; all end with it."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.decoders: list[subprocess.Popen[bytes]] = []
        self._simulators: list[subprocess.Popen[bytes]] = []
        self._restarts = 0

    def start_simulator(self, target: Target, name: str = MAIN_TARGET) -> str:
        """The simulated endpoint of a sim:// target of that name; returns its real URL."""
        log = "truth.jsonl" if name == MAIN_TARGET else f"truth-{name}.jsonl"
        arguments = simulator_arguments(target, self._folder.path / log)
        simulator = subprocess.Popen(
            [sys.executable, "-m", "simulator.server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        self._simulators.append(simulator)
        assert simulator.stdout is not None
        line = _first_line(simulator.stdout.fileno(), SIMULATOR_START_S)
        if not line.startswith(READY):
            raise CrewError(
                f"The simulator did not start for {target.url}. {self._last_log_line()}".strip()
            )
        return line.removeprefix(READY).strip()

    def _last_log_line(self) -> str:
        """What a child that ended at once said last."""
        try:
            lines = (self._folder.path / "log").read_text(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def start_workers(self, n: int, leader: str, secret_env: str | None = None) -> None:
        """n load workers that report to `leader`, HOST:PORT; its secret by its variable's name."""
        folder = str(self._folder.path)
        for k in range(n):
            arguments = [folder, str(k), leader, *filter(None, [secret_env])]
            self.workers.append(_spawn("loadgen.locustfile", *arguments))

    def start_decoders(self) -> None:
        """One beside each worker, once that holds its spool."""
        for k in range(len(self.workers)):
            self.decoders.append(_spawn("loadgen.decoder", str(self._folder.path), str(k)))

    def dead_workers(self) -> dict[int, int]:
        """Load workers that have ended -> exit code."""
        codes = {k: worker.poll() for k, worker in enumerate(self.workers)}
        return {k: code for k, code in codes.items() if code is not None}

    def kill(self, worker: int) -> None:
        """End a load worker that hangs; not one of another machine."""
        if worker < len(self.workers):
            with contextlib.suppress(ProcessLookupError):
                self.workers[worker].kill()

    def mend_decoders(self) -> None:
        """A decoder that died is started again: it goes on where the other was, losing nothing."""
        for k, decoder in enumerate(self.decoders):
            if decoder.poll() and self._restarts < MOST_RESTARTS:
                self._restarts += 1
                self.decoders[k] = _spawn("loadgen.decoder", str(self._folder.path), str(k))

    def wait_workers(self, seconds: float) -> bool:
        """True once all load workers have ended."""
        return _wait(self.workers, seconds)

    def wait_decoders(self, seconds: float) -> bool:
        """True once all decoders have ended: everything is in column segments."""
        return _wait(self.decoders, seconds, self.mend_decoders)

    def end(self) -> None:
        """End whatever still runs."""
        others = self._simulators
        for process in [*self.workers, *others]:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
        if not _wait([*self.workers, *others], 1.0):
            for process in [*self.workers, *others]:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()


def _spawn(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdin=subprocess.DEVNULL)


def _wait(
    processes: list[subprocess.Popen[bytes]],
    seconds: float,
    meanwhile: Callable[[], None] = lambda: None,
) -> bool:
    """processes may be changed by `meanwhile`."""
    left_s = seconds
    while True:
        meanwhile()
        if all(p.poll() is not None for p in processes):
            return True
        if left_s <= 0:
            return False
        gevent.sleep(0.02)
        left_s -= 0.02


def _first_line(fd: int, within_s: float) -> str:
    """The child's first line; empty if it ends or stays silent."""
    line, left_s = b"", within_s
    while b"\n" not in line and left_s > 0:
        if not select.select([fd], [], [], 0)[0]:
            gevent.sleep(0.02)
            left_s -= 0.02
            continue
        if not (more := os.read(fd, 4096)):
            break
        line += more
    return line.partition(b"\n")[0].decode(errors="replace").strip()
