"""CPU time of a run's processes while it lasts, by what they are: leader, worker, decoder."""

import contextlib
import os
import threading
import time
from bisect import bisect_right

import psutil

EVERY_S = 0.2
SEARCH_EVERY = 5  # samples; a search reads all of /proc, which costs milliseconds
ROLES = {
    "loadgen.decoder": "decoder",
    "loadgen.locustfile": "worker",
    "loadgen.lead": "leader",
}


class GroupCpu(threading.Thread):
    """Samples a process group until stopped; a process that ends keeps its last sample."""

    def __init__(self, pgid: int) -> None:
        super().__init__(daemon=True)
        self._pgid = pgid
        self._series: dict[int, tuple[str, list[int], list[float]]] = {}
        self._done = threading.Event()

    def run(self) -> None:
        n_samples, members = 0, list[psutil.Process]()
        while not self._done.wait(EVERY_S):
            if n_samples % SEARCH_EVERY == 0:
                members = [p for p in psutil.process_iter() if self._is_ours(p)]
            for process in members:
                with contextlib.suppress(psutil.Error):
                    self._sample(process)
            n_samples += 1

    def stop(self) -> None:
        self._done.set()
        self.join()

    def used_s(self, role: str, begin_ns: int, end_ns: int | None = None) -> float:
        """CPU seconds of all processes of the role between two monotonic instants (None: end).

        Raises AssertionError if no process had the role: that is not known, and no 0.
        """
        roles = {its_role for its_role, _, _ in self._series.values()}
        assert role in roles, f"no process was seen that is a {role}, but {sorted(roles)}"
        total = 0.0
        for its_role, at_ns, cpu_s in self._series.values():
            if its_role == role:
                until = cpu_s[-1] if end_ns is None else _at(end_ns, at_ns, cpu_s)
                total += until - _at(begin_ns, at_ns, cpu_s)
        return total

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return os.getpgid(process.pid) == self._pgid
        except OSError:
            return False

    def _sample(self, process: psutil.Process) -> None:
        times = process.cpu_times()
        before, at_ns, cpu_s = self._series.get(process.pid, (None, [], []))
        role = role_of(process.cmdline(), before)
        at_ns.append(time.monotonic_ns())
        cpu_s.append(times.user + times.system)
        self._series[process.pid] = (role, at_ns, cpu_s)


def role_of(words: list[str], before: str | None) -> str:
    """What a process is by its command line; before: what it was at the sample before.

    Asked at each sample, for between fork and exec a worker still has the leader's command line;
    but a process that is ending has none any more, and stays what it was.
    """
    if not words:
        return before or "other"
    return next((role for word, role in ROLES.items() if word in words), "other")


def _at(instant_ns: int, at_ns: list[int], cpu_s: list[float]) -> float:
    """The last sample at or before the instant; the first if there is none."""
    return cpu_s[max(0, bisect_right(at_ns, instant_ns) - 1)]
