"""Each second: is this load worker itself healthy?  Figures for the verdict's sentence."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import gevent
import psutil

from loadgen.collector import Collector
from loadgen.transport.connection import Phases
from loadgen.transport.stats import ReadStats
from storage.raw_spool import backlog_bytes
from storage.records import Pulse

TICK_S = 0.05
CPU_OVER_S = 0.5  # shorter spans give shares of the clock tick, such as 173 % of one core


@dataclass(slots=True)
class Counts:
    """Since the run began."""

    sent: int = 0
    done: int = 0
    failed: int = 0
    not_sent: int = 0
    in_flight: int = 0
    stage: int = 0
    send_lags_us: list[int] = field(default_factory=list[int])  # of this second, as the next
    dispatch_lags_us: list[int] = field(default_factory=list[int])


class Connections(Protocol):
    """What the pulse asks of a pool, or of several."""

    def take_stats(self) -> ReadStats:
        """How late reads were since the last call."""
        ...

    def take_connects(self) -> list[Phases]:
        """The phases of each connection opened since the last call."""
        ...

    def rtt_us(self) -> int | None:
        """The kernel's round-trip time."""
        ...


class HubTick:
    """A greenlet that should wake every 50 ms; how late it does is how late everything is."""

    def __init__(self) -> None:
        self._latest_ns = 0

    def run(self) -> None:
        """Loop for ever."""
        while True:
            due_ns = time.monotonic_ns() + round(TICK_S * 1e9)
            gevent.sleep(TICK_S)
            self._latest_ns = max(self._latest_ns, time.monotonic_ns() - due_ns)

    def latest_us(self) -> int:
        """The worst lateness since the last call."""
        latest_ns, self._latest_ns = self._latest_ns, 0
        return latest_ns // 1000


class PulseMaker:
    """Puts one second's figures together."""

    def __init__(self, worker: int, spool: Path, t0_ns: int) -> None:
        self._worker = worker
        self._spool = spool
        self._t0_ns = t0_ns
        self._process = psutil.Process()
        self._process.cpu_percent()
        self._cpu = (time.monotonic(), 0.0)

    def make(self, counts: Counts, pool: Connections, collector: Collector, hub: HubTick) -> Pulse:
        """Takes, and so resets, what pool and counts have gathered since the last call."""
        reads, opened = pool.take_stats(), pool.take_connects()
        lags, counts.send_lags_us = counts.send_lags_us, []
        dispatch_lags, counts.dispatch_lags_us = counts.dispatch_lags_us, []
        connects_us = [phases.connect_ns // 1000 for phases in opened if phases.connect_ns]
        return Pulse(
            worker=self._worker,
            t_us=(time.monotonic_ns() - self._t0_ns) // 1000,
            stage=counts.stage,
            in_flight=counts.in_flight,
            sent=counts.sent,
            done=counts.done,
            failed=counts.failed,
            not_sent=counts.not_sent,
            reads=reads.reads,
            missing_stamps=reads.missing_stamps,
            read_lag_p50_us=reads.lag_p50_us,
            read_lag_p99_us=reads.lag_p99_us,
            read_lag_max_us=reads.lag_max_us,
            send_lag_p99_us=_quantile(lags, 0.99),
            send_lag_max_us=max(lags, default=None),
            hub_late_max_us=hub.latest_us(),
            gc_pause_max_us=collector.longest_us(),
            cpu_share=self._cpu_share(),
            rss_bytes=self._process.memory_info().rss,
            backlog_bytes=backlog_bytes(self._spool, self._worker),
            connects=len(opened),
            connect_p50_us=_quantile(connects_us, 0.5),
            rtt_p50_us=pool.rtt_us(),
            dispatch_lag_p99_us=_quantile(dispatch_lags, 0.99),
        )

    def _cpu_share(self) -> float:
        """Over the time since the last look; the last value if that was a moment ago."""
        looked_s, share = self._cpu
        if time.monotonic() - looked_s >= CPU_OVER_S:
            share = self._process.cpu_percent() / 100
            self._cpu = (time.monotonic(), share)
        return share


def _quantile(values: list[int], q: float) -> int | None:
    """One of the values, for a glance each second; None if there is none."""
    return sorted(values)[int(q * (len(values) - 1))] if values else None


def every_second(beat: Callable[[], None]) -> None:
    """Call `beat` on the whole seconds of the monotonic clock, for ever."""
    while True:
        gevent.sleep(1 - time.monotonic() % 1)
        beat()
