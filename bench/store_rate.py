"""50,000 events a second, from two writers, into the file as it is: is the store in time?"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from bench.figures import Figure
from bench.made_events import N_TOKENS, WORKERS, Segment
from bench.made_run import announce, new_folder, show, write_segment
from bench.open_store import store_cpu_s
from bench.processes import ROOT
from storage.client import Store
from storage.records import TOKEN_EVENT

SECONDS, EVENTS_PER_S = 60, 50_000
PER_SEGMENT = EVENTS_PER_S // WORKERS


def store_rate(store: Store, data: Path, pid: int) -> list[Figure]:
    """The store's share of a core, and how old the newest visible event is, over the minute.

    A segment is visible when its file has left the spool: that is after the commit.
    """
    folder = new_folder(data)
    announce(folder, None)
    folder.write("status.json", {"run_uid": folder.run_uid, "state": "running"})
    show(folder)
    command = [sys.executable, "-m", "bench.store_rate", str(folder.spool)]
    writers = [subprocess.Popen([*command, str(w)], cwd=ROOT) for w in range(WORKERS)]
    time.sleep(3)  # they have begun
    begin_cpu_s, begin_s = store_cpu_s(pid), time.monotonic()
    ages_s = _ages(folder.spool, writers)
    share = (store_cpu_s(pid) - begin_cpu_s) / (time.monotonic() - begin_s)
    assert all(writer.wait() == 0 for writer in writers)
    folder.write("status.json", {"run_uid": folder.run_uid, "state": "finished"})
    return [
        Figure("50,000 events/s: store, share of a core", 100 * share, "%", "<= 10"),
        Figure("age of the newest event, median", statistics.median(ages_s), "s", "<= 1"),
        Figure("age of the newest event, worst", max(ages_s), "s"),
        Figure("writing columns, CPU per event", _spool_us(data), "µs", "<= 1"),
    ]


def _ages(spool: Path, writers: list[subprocess.Popen[bytes]]) -> list[float]:
    """Seconds since the newest event that is visible, sampled while the writers live."""
    ages: list[float] = []
    seen: dict[str, float] = {}
    visible_s = time.time()
    while all(writer.poll() is None for writer in writers):
        now = {path.name: path for path in spool.glob("col-*.seg")}
        for name, path in now.items():
            if name not in seen:
                try:
                    seen[name] = path.stat().st_mtime
                except FileNotFoundError:
                    continue
        gone = [name for name in seen if name not in now]
        visible_s = max([visible_s, *(seen.pop(name) for name in gone)])
        ages.append(time.time() - visible_s)
        time.sleep(0.02)
    return ages


def _spool_us(data: Path) -> float:
    """CPU of sealing a second's columns, per event."""
    spool = data / "bench-spool"
    spool.mkdir()
    made = _second(0, 0)
    begin_s = time.process_time()
    for seq in range(20):
        write_segment(spool, Segment(0, seq, made, []))
    return (time.process_time() - begin_s) / 20 / len(made) * 1e6


def _second(worker: int, second: int) -> np.ndarray:
    """A second of one worker's events: each stream's chunks in their order."""
    tokens = np.zeros(PER_SEGMENT, TOKEN_EVENT)
    at = np.arange(PER_SEGMENT)
    streams = PER_SEGMENT // 50
    turn = second * (PER_SEGMENT // streams) // N_TOKENS
    tokens["request_id"] = (turn * streams + at % streams) * WORKERS + worker
    tokens["seq"] = second * (PER_SEGMENT // streams) % N_TOKENS + at // streams
    tokens["t_us"] = second * 1_000_000 + at * 1_000_000 // PER_SEGMENT
    tokens["gap_us"] = np.where(tokens["seq"] > 0, 20_000 + at * 7 % 999, -1)
    tokens["lag_us"] = at * 31 % 300
    return tokens


def _write(spool: Path, worker: int) -> None:
    """One segment a second, its events those of the second before."""
    begin_s = time.monotonic()
    for second in range(SECONDS + 3):
        made = Segment(worker, second, _second(worker, second), [])
        time.sleep(max(0.0, begin_s + second + 1 - time.monotonic()))
        write_segment(spool, made)


if __name__ == "__main__":
    _write(Path(sys.argv[1]), int(sys.argv[2]))
