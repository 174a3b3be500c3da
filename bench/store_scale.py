"""A hundred million token events in one file, ten runs of equal events: what does it cost?

HEADWAY_BENCH_EVENTS scales it down.  CPU is the store process's own, on all its threads.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from analysis.reading import UNREAD
from bench.figures import Figure
from bench.made_events import segments
from bench.made_run import run_of, write_made
from bench.open_store import open_store, store_cpu_s, store_pid, wait_final
from bench.store_rate import store_rate
from storage.client import Store

N_EVENTS = int(os.environ.get("HEADWAY_BENCH_EVENTS", "100_000_000"))
RUNS = 10
QS = [0.5, 0.9, 0.95, 0.99]
LIMITS_US = [9_500.0, 15_000.0, 18_000.0, 150_000.0]
REPEATS = 5


def store_scale(turn: int) -> list[Figure]:
    """Size, CPU of loading, of closing, of every question a page asks, and of a fast live run."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        data = Path(folder)
        with open_store(data) as store:
            pid = store_pid(data)
            made = data / "made"  # once: to make events costs as much as to store them
            n_run, end_us = write_made(made, segments(N_EVENTS // RUNS, turn))
            runs = [_add_run(store, data, made, end_us) for _ in range(RUNS)]
            size = (data / "headway.duckdb").stat().st_size
            n_events = n_run * RUNS
            asked = _ask_all(store, pid, runs[-1].uid, end_us)
            rss = _peak_mb(pid)
            live = store_rate(store, data, pid)
    return [
        Figure("events in the file", n_events / 1e6, "M"),
        Figure("file size per event, all tables", size / n_events, "B", "<= 9"),
        Figure(
            "store CPU to load a million", sum(run.load_s for run in runs) / n_events * 1e6, "s"
        ),
        Figure(
            "store CPU to close a run, per million",
            sum(run.close_s for run in runs) / n_events * 1e6,
            "s",
        ),
        *asked,
        Figure("store memory after that, peak", rss, "MB", "<= 600"),
        *live,
    ]


class _Run(NamedTuple):
    """A run in the file, and the store's CPU for loading it and for closing it."""

    uid: str
    load_s: float
    close_s: float


def _add_run(store: Store, data: Path, made: Path, end_us: int) -> _Run:
    pid = store_pid(data)
    begin_s = store_cpu_s(pid)
    uid = run_of(data, made, end_us)
    spool = data / "runs" / uid / "spool"
    while any(spool.glob("col-*.seg")):
        time.sleep(0.02)
    loaded_s = store_cpu_s(pid)
    wait_final(store, uid)
    return _Run(uid, loaded_s - begin_s, store_cpu_s(pid) - loaded_s)


def _ask_all(store: Store, pid: int, uid: str, end_us: int) -> list[Figure]:
    """What the Run page asks of a run of a tenth of the events, and three dearer questions."""
    window = {"run": uid, "stage": 0, "w0_us": 5_000_000, "w1_us": end_us // 1_000_000 * 1_000_000}
    page: dict[str, dict[str, Any]] = {
        "runs": {},
        "requests": {"run": uid, "without": UNREAD},
        **{name: {"run": uid} for name in ("run", "stages", "pulses", "outcomes", "gap_hist")},
        **{name: {"run": uid} for name in ("tokens_per_s", "doubt_per_s")},
        "gap_quantiles": {**window, "qs": QS},
        "window_tokens": window,
        "stamp_bounds": window,
        "gap_seconds": {**window, "gap_us": LIMITS_US, "itl_us": LIMITS_US},
    }
    found = [
        Figure(f"page: {name}, CPU", _cost_ms(store, pid, name, args), "ms", "<= 50")
        for name, args in page.items()
    ]
    whole = {**window, "w0_us": 0, "w1_us": end_us + 1, "qs": QS, "exact": True}
    exact_ms = _cost_ms(store, pid, "gap_quantiles", whole, 1)
    again_ms = _cost_ms(store, pid, "gap_quantiles", whole)
    one = {"run": uid, "request_id": N_EVENTS // RUNS // 500}
    return [
        *found,
        Figure(
            "tokens of one request, CPU", _cost_ms(store, pid, "token_events", one), "ms", "<= 20"
        ),
        Figure("exact ITL of a run, CPU", exact_ms / 1e3, "s", "<= 0.5"),
        Figure("exact ITL asked again, CPU", again_ms, "ms", "<= 50"),
    ]


def _cost_ms(
    store: Store, pid: int, name: str, args: dict[str, Any], repeats: int = REPEATS
) -> float:
    """The store's CPU for an answer, mean; the turns it makes meanwhile are in it."""
    begin_s = store_cpu_s(pid)
    for _ in range(repeats):
        store.ask_arrow(name, **args)
    return (store_cpu_s(pid) - begin_s) * 1e3 / repeats


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next((x for x in status.splitlines() if x.startswith("VmHWM")), "")
    return int(line.split()[1]) / 1024 if line else psutil.Process(pid).memory_info().rss / 2**20
