"""CPU time of a command and of every process it starts, also of those that outlive it.  Linux."""

import contextlib
import os
import threading
import time
from bisect import bisect_right
from pathlib import Path

import psutil

EVERY_S = 0.2
SEARCH_EVERY = 3  # samples; a search reads all of /proc, which costs milliseconds
END_WITHIN_S = 5.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class TreeCpu(threading.Thread):
    """Samples the tree below `root` until stopped; a process that ended keeps its last sample.

    A child that lives shorter than a search's interval (0.6 s) may be missed.
    """

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._members = {root: psutil.Process(root)}
        self._last_s: dict[int, float] = {}
        self._at_ns: list[int] = []
        self._used_s: list[float] = []  # of the whole tree, at each sample
        self._done = threading.Event()

    def run(self) -> None:
        n_samples = 0
        while not self._done.wait(EVERY_S):
            if n_samples % SEARCH_EVERY == 0:
                self._search()
            self._sample()
            n_samples += 1

    def stop(self) -> None:
        """A last sample, then the end of whatever is still alive of the tree."""
        self._done.set()
        self.join()
        self._search()
        self._sample()
        left = list(self._members.values())
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        _, stubborn = psutil.wait_procs(left, END_WITHIN_S)
        for process in stubborn:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def used_s(self, begin_ns: int | None = None, end_ns: int | None = None) -> float:
        """CPU seconds between two monotonic instants; None: from the start, to the end."""
        if not self._used_s:
            return 0.0
        first = 0.0 if begin_ns is None else self._at(begin_ns)
        return (self._used_s[-1] if end_ns is None else self._at(end_ns)) - first

    def _at(self, instant_ns: int) -> float:
        """Between two samples as if the CPU had been used evenly."""
        i = bisect_right(self._at_ns, instant_ns)
        if i == 0:
            return 0.0
        if i == len(self._at_ns):
            return self._used_s[-1]
        before_ns, after_ns = self._at_ns[i - 1], self._at_ns[i]
        share = (instant_ns - before_ns) / (after_ns - before_ns)
        return self._used_s[i - 1] + share * (self._used_s[i] - self._used_s[i - 1])

    def _search(self) -> None:
        parents = {int(p): _stat(int(p))[0] for p in os.listdir("/proc") if p.isdigit()}
        found = True
        while found:  # a generation each time; orphans are known from before
            children = [p for p, parent in parents.items() if parent in self._members]
            found = [p for p in children if p not in self._members]
            for pid in found:
                with contextlib.suppress(psutil.Error):
                    self._members[pid] = psutil.Process(pid)
                parents.pop(pid)

    def _sample(self) -> None:
        for pid in self._members:
            parent, used_s = _stat(pid)
            if parent is not None:
                self._last_s[pid] = used_s
        self._at_ns.append(time.monotonic_ns())
        self._used_s.append(sum(self._last_s.values()))


def _stat(pid: int) -> tuple[int | None, float]:
    """Parent and CPU seconds; (None, 0) of a process that is gone.  Fields: proc(5), stat."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None, 0.0
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS_PER_S
