"""Can this machine measure?  One finding per question: what was seen, and what to do about it."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from loadgen.limits import raise_open_files, streams_allowed

GOOD_CLOCKS = frozenset({"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"})
CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "firefox")
FREE_BYTES_BAD, FREE_BYTES_LOW = 200_000_000, 2_000_000_000
BYTES_PER_TOKEN = 40  # raw read and token row together, while both exist


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's answer; `advice` is empty when there is nothing to do."""

    name: str
    level: Literal["ok", "warn", "bad"]
    seen: str
    advice: str = ""


def kernel_stamps() -> Finding:
    """Does a socket of this machine get the kernel's arrival time?"""
    from loadgen.transport.stamps import has_kernel_stamps

    if has_kernel_stamps():
        return Finding("kernel stamps", "ok", "the kernel stamps each arrival")
    return Finding(
        "kernel stamps",
        "warn",
        "no kernel arrival stamps here; arrivals are stamped when Headway reads them",
        "measure from Linux; or keep the load low: the pages then show how late reads were",
    )


def clock(source: Path = CLOCK_SOURCE) -> Finding:
    """Is the monotonic clock fine and cheap enough to time tokens?"""
    step_ns, call_ns = clock_step_ns(time.monotonic_ns)
    try:
        name = source.read_text().strip()
    except OSError:
        name = "unknown source"
    seen = f"{name}, steps of {step_ns:,} ns, {call_ns:,.0f} ns per reading"
    if step_ns > 100_000 or (name not in GOOD_CLOCKS and call_ns > 1_000):
        return Finding(
            "clock",
            "warn",
            seen,
            "it adds to each time; boot with clocksource=tsc, or measure from another machine",
        )
    return Finding("clock", "ok", seen)


def clock_step_ns(now_ns: Callable[[], int], n: int = 2_000) -> tuple[int, float]:
    """Smallest step between two different readings, and the mean time of one reading, in ns."""
    readings = [now_ns() for _ in range(n)]
    steps = [b - a for a, b in pairwise(readings) if b > a]
    return min(steps, default=0), (readings[-1] - readings[0]) / (n - 1)


def open_files() -> Finding:
    """How many streams may be open at once?  Raises the soft limit first."""
    limit = raise_open_files()
    streams = streams_allowed(limit)
    seen = f"{limit:,} (soft limit raised as far as allowed): {streams:,} streams per worker"
    if streams < 2_000:
        return Finding("open files", "warn", seen, "raise the hard limit: ulimit -Hn 65536 as root")
    return Finding("open files", "ok", seen)


def cores() -> Finding:
    """Are there idle cores for the load generator?"""
    usable = _usable_cores()
    busy = os.getloadavg()[0]
    seen = f"{usable} usable, load average {busy:.1f}"
    if usable < 2:
        return Finding(
            "cores", "warn", seen, "one core does sending, stamping and decoding; use two or more"
        )
    if busy > 0.7 * usable:
        return Finding(
            "cores", "warn", seen, "other programs use this machine; end them, or the load will lag"
        )
    return Finding("cores", "ok", seen)


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def data_folder(data: Path) -> Finding:
    """Can runs be written, and how many tokens fit on that disk?"""
    probe = data / f".doctor-{os.getpid()}"
    try:
        data.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        return Finding(
            "data folder",
            "bad",
            f"{data} cannot be written ({error.strerror or error})",
            "set HEADWAY_DATA to a folder that can, or change its permissions",
        )
    free = shutil.disk_usage(data).free
    seen = f"{data}, {free / 1e9:,.1f} GB free: about {free // BYTES_PER_TOKEN:,} tokens"
    if free < FREE_BYTES_BAD:
        return Finding("data folder", "bad", seen, "free some disk, or set HEADWAY_DATA elsewhere")
    if free < FREE_BYTES_LOW:
        return Finding("data folder", "warn", seen, "enough for short runs only; free some disk")
    return Finding("data folder", "ok", seen)


def database(data: Path) -> Finding:
    """Does the store process start, and does it answer?"""
    from storage.client import Store, StoreError

    try:
        began_ns = time.monotonic_ns()
        store = Store.connect(data)
        n_runs = len(store.ask("runs"))
        store.close()
    except StoreError as error:
        return Finding("database", "bad", str(error), "end whoever holds it, or see store.log")
    took_ms = (time.monotonic_ns() - began_ns) / 1e6
    return Finding("database", "ok", f"answered within {took_ms:,.0f} ms; runs stored: {n_runs:,}")


def browser() -> Finding:
    """Is there a browser on this machine?  The dashboard also works from another one."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return Finding("browser", "ok", path)
    return Finding(
        "browser",
        "warn",
        "none found on this machine",
        "open the dashboard from elsewhere: ssh -L 8501:127.0.0.1:8501 HOST",
    )


def examine(data: Path) -> list[Finding]:
    """Every finding about this machine, in reading order."""
    return [
        kernel_stamps(),
        clock(),
        open_files(),
        cores(),
        folder := data_folder(data),
        *([] if folder.level == "bad" else [database(data)]),
        browser(),
    ]
