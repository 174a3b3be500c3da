"""A store process that lives as long as the bench needs it."""

import contextlib
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

from storage.client import Store
from storage.lock import read_holder

LONGEST_S = 300  # a run of ten million events beside other work


@contextmanager
def open_store(data: Path) -> Generator[Store]:
    """The data folder's store; its process is ended with the block, not a minute later."""
    store = Store.connect(data)
    try:
        yield store
    finally:
        store.close()
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(store_pid(data))
            process.terminate()
            process.wait(LONGEST_S)  # a turn is finished first


def store_pid(data: Path) -> int:
    """The process that holds the data folder."""
    holder = read_holder(data)
    assert holder is not None, f"nobody holds {data}"
    return holder.pid


def wait_final(store: Store, run_uid: str) -> None:
    """Return once the run has ended and all its rows are in the tables."""
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        if any(store.ask("run", run=run_uid)["is_final"].tolist()):  # no row yet: not final
            return
        time.sleep(0.05)
    raise AssertionError(f"run {run_uid} was not final in the store within {LONGEST_S} s")


def store_cpu_s(pid: int) -> float:
    """CPU of a process so far, threads that have ended included; psutil counts in 10 ms steps."""
    return time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3) as Linux builds it
