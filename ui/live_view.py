"""Numbers of the Live page: series on a one-second grid, and the tiles above them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.buckets import bucket_us
from ui.live_arrivals import Arrivals, arrivals, is_scheduled, recent
from ui.live_feed import LiveLines

Floats = NDArray[np.float64]
Histogram = tuple[float, dict[str, int]]  # end of the line in s, bucket -> count
Span = tuple[float, float]  # s on the run's time line
Path = tuple[str, ...]  # keys that lead to a histogram in a line; older lines lack some
SHOWN_S = 300  # seconds on the charts
LATENCY_S = 30  # latency percentiles look back this far
RATE_S = 5  # rates on tiles look back this far
# cancelled: ended by us, so it says nothing about the server; not_sent: has a number of its own.
NO_FAILURE = ("complete", "cancelled", "not_sent")


@dataclass(frozen=True, slots=True)
class LiveSeries:
    """One value per second since the load began; None where there was nothing to measure."""

    t_s: list[int]
    tokens_per_s: list[float]
    done_per_s: list[float]
    failed_per_s: list[float]
    in_flight: list[float]
    ttft_p50_ms: list[float | None]
    ttft_p95_ms: list[float | None]
    ttft_sched_p50_ms: list[float | None]  # from schedule, of open loop
    ttft_sched_p95_ms: list[float | None]
    arrivals: Arrivals


@dataclass(frozen=True, slots=True)
class LiveTiles:
    """The latest values; None where there was nothing to measure."""

    in_flight: int
    requests_per_s: float | None
    tokens_per_s: float | None
    ttft_p50_ms: float | None
    ttft_p95_ms: float | None
    n_ttft: int  # requests behind both
    gap_p50_ms: float | None
    gap_p99_ms: float | None
    complete: int  # since the run began, as the decoders judge it
    failed: int
    is_scheduled: bool  # open loop: what follows means something
    ttft_sched_p95_ms: float | None
    offered_per_s: float | None
    sent_per_s: float | None
    not_sent: int  # since the run began
    latency_s: int  # how far latencies look back


def live_series(live: LiveLines, begin_us: int) -> LiveSeries:
    """Every second that all workers have reported, at most the last SHOWN_S of them.

    begin_us: when the load began (the first level), on the run's time line; the series' second 0.
    """
    grid = _grid(live, begin_us / 1e6)
    if grid.size < 2:
        return LiveSeries([], [], [], [], [], [], [], [], [], Arrivals([], [], []))
    ends = grid[1:]
    ttft = _rolling(_histograms(live, ("ttft",)), ends)
    ttft_sched = _rolling(_histograms(live, ("ttft_sched",)), ends)
    return LiveSeries(
        t_s=[round(t - begin_us / 1e6) for t in ends],
        tokens_per_s=_per_second(live, grid, lambda line: line["tokens"]),
        done_per_s=_per_second(live, grid, _complete),
        failed_per_s=_per_second(live, grid, _failed),
        in_flight=_in_flight(live, ends),
        ttft_p50_ms=_quantiles_ms(ttft, 0.5),
        ttft_p95_ms=_quantiles_ms(ttft, 0.95),
        ttft_sched_p50_ms=_quantiles_ms(ttft_sched, 0.5),
        ttft_sched_p95_ms=_quantiles_ms(ttft_sched, 0.95),
        arrivals=arrivals(live, grid),
    )


def live_tiles(
    live: LiveLines, series: LiveSeries, begin_us: int, level_us: int | None = None
) -> LiveTiles:
    """Rates over the last RATE_S seconds, latencies over recent_span."""
    span_s = recent_span(live, begin_us, level_us)
    ttft, gap = _pooled(live, ("ttft",), span_s), _pooled(live, ("gap",), span_s)
    return LiveTiles(
        in_flight=round(series.in_flight[-1]) if series.in_flight else 0,
        requests_per_s=_recent_mean(series.done_per_s),
        tokens_per_s=_recent_mean(series.tokens_per_s),
        ttft_p50_ms=_quantiles_ms(ttft, 0.5)[0],
        ttft_p95_ms=_quantiles_ms(ttft, 0.95)[0],
        n_ttft=int(ttft.sum()),
        gap_p50_ms=_quantiles_ms(gap, 0.5)[0],
        gap_p99_ms=_quantiles_ms(gap, 0.99)[0],
        complete=live.outcomes["complete"],
        failed=sum(n for outcome, n in live.outcomes.items() if outcome not in NO_FAILURE),
        is_scheduled=is_scheduled(live),
        ttft_sched_p95_ms=pooled_quantile_ms(live, ("ttft_sched",), span_s, 0.95),
        offered_per_s=recent(series.arrivals.offered_per_s, RATE_S),
        sent_per_s=recent(series.arrivals.sent_per_s, RATE_S),
        not_sent=live.outcomes["not_sent"],
        latency_s=max(1, round(span_s[1] - span_s[0])),
    )


def recent_span(live: LiveLines, begin_us: int, level_us: int | None) -> Span:
    """The last LATENCY_S seconds until the charts' last point, or what the level has of them.

    level_us: begin of the present level.  Levels before it had another load.
    """
    now_s = float(_grid(live, begin_us / 1e6)[-1])
    level_s = (begin_us if level_us is None else level_us) / 1e6
    return (min(now_s, max(now_s - LATENCY_S, level_s)), now_s)


def pooled_quantile_ms(live: LiveLines, path: Path, span_s: Span, q: float) -> float | None:
    """A quantile of all that the histograms at `path` counted in a span."""
    return _quantiles_ms(_pooled(live, path, span_s), q)[0]


def _complete(line: dict[str, Any]) -> int:
    return line["outcomes"].get("complete", 0)


def _failed(line: dict[str, Any]) -> int:
    return sum(n for outcome, n in line["outcomes"].items() if outcome not in NO_FAILURE)


def _grid(live: LiveLines, begin_s: float) -> Floats:
    """Seconds of the run's time line, whole ones since begin_s, that every worker has reported."""
    last_s = min((lines[-1]["t_us"] / 1e6 for lines in live.lines.values()), default=0.0)
    last = max(0, int(last_s - begin_s))
    return np.arange(max(0, last - SHOWN_S), last + 1, dtype=np.float64) + begin_s


def _per_second(
    live: LiveLines, grid: Floats, count: Callable[[dict[str, Any]], int]
) -> list[float]:
    """Counts of each line, spread evenly over the time since the worker's line before it."""
    total = np.zeros(grid.size)
    for lines in live.lines.values():
        times = [line["t_us"] / 1e6 for line in lines]
        times = [max(0.0, times[0] - 1), *times]  # the first line kept holds about a second
        counts = np.array([0, *map(count, lines)], dtype=np.float64)
        total += np.interp(grid, times, counts.cumsum())
    return [round(float(v), 2) for v in np.diff(total)]


def _in_flight(live: LiveLines, ends: Floats) -> list[float]:
    """Streams open at each second, by the latest pulse of each worker until then."""
    total = np.zeros(ends.size)
    for lines in live.lines.values():
        pulses = [line["pulse"] for line in lines if line.get("pulse")]
        times = np.array([p["t_us"] / 1e6 for p in pulses])
        values = np.array([0, *(p["in_flight"] for p in pulses)], dtype=np.float64)
        total += values[np.searchsorted(times, ends, side="right")]
    return [float(v) for v in total]


def _histograms(live: LiveLines, path: Path) -> list[Histogram]:
    """The lines' histograms that are not empty, by time."""
    pairs = ((line["t_us"] / 1e6, _at(line, path)) for kept in live.lines.values() for line in kept)
    return sorted((pair for pair in pairs if pair[1]), key=lambda pair: pair[0])


def _at(line: dict[str, Any], path: Path) -> dict[str, int]:
    found: dict[str, Any] = line
    for key in path:
        found = found.get(key) or {}
    return found


def _table(histograms: list[Histogram]) -> NDArray[np.int32]:
    """One row per histogram, one column per bucket."""
    rows = np.repeat(np.arange(len(histograms)), [len(counts) for _, counts in histograms])
    buckets = np.array([b for _, counts in histograms for b in counts], dtype=np.int32)
    table = np.zeros((len(histograms), buckets.max(initial=0) + 1), dtype=np.int32)
    table[rows, buckets] = [n for _, counts in histograms for n in counts.values()]
    return table


def _pooled(live: LiveLines, path: Path, span_s: Span) -> NDArray[np.int32]:
    """All counts of lines that ended in a span, as one row."""
    counted = [h for h in _histograms(live, path) if span_s[0] < h[0] <= span_s[1]]
    return _table(counted).sum(axis=0, dtype=np.int32, keepdims=True)


def _rolling(histograms: list[Histogram], ends: Floats) -> NDArray[np.int32]:
    """One row per second: all counts of the LATENCY_S before it."""
    table = _table(histograms)
    sums = np.cumsum(np.pad(table, ((1, 0), (0, 0))), axis=0, dtype=np.int32)
    times = np.array([t for t, _ in histograms])
    upto = np.searchsorted(times, ends, side="right")
    since = np.searchsorted(times, ends - LATENCY_S, side="right")
    return sums[upto] - sums[since]


def _quantiles_ms(counts: NDArray[np.int32], q: float) -> list[float | None]:
    """Of each row, the value of the bucket that holds the q-th of all counted; worst error 1 %."""
    upto = counts.cumsum(axis=1, dtype=np.int32)
    totals = upto[:, -1]
    buckets = (upto < q * totals[:, None]).sum(axis=1)
    return [
        round(float(bucket_us(int(b))) / 1000, 3) if total else None
        for b, total in zip(buckets, totals, strict=True)
    ]


def _recent_mean(values: list[float]) -> float | None:
    recent = values[-RATE_S:]
    return sum(recent) / len(recent) if recent else None
