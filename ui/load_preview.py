"""The load of a plan as it will come: counts of the real schedule, and streams in flight."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadgen.curves import NS, Floats
from loadgen.forecast_levels import Level
from loadgen.plan import ClosedLoop, OpenLoop
from loadgen.seats import LoadPart
from loadgen.shapes import curve
from ui.forecast import Forecast
from ui.plain import seconds
from ui.time_charts import GREY, INDIGO, ORANGE, RED, TEAL, Line, TimeChart, Timeline

MOST_BINS = 600
WIDTHS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
COLORS = (INDIGO, ORANGE, TEAL, RED, GREY)


@dataclass(frozen=True, slots=True)
class Preview:
    """Charts over one time line; none where nothing is known beforehand."""

    charts: tuple[TimeChart, ...]
    timeline: Timeline


def load_preview(cost: Forecast, names: Sequence[str]) -> Preview:
    """names: of the plan's classes, in order."""
    edges = _edges(cost.total_s)
    width_s = float(edges[1] - edges[0]) if len(edges) > 1 else 1.0
    begins = np.cumsum([0.0, *(level.seconds for level in cost.levels)])
    rates = _rate_lines(cost.levels, begins, edges, names)
    streams = _stream_lines(cost.levels, begins, edges, names)
    per = "requests per second" + (f", mean of {seconds(width_s)}" if width_s > 1 else "")
    charts = [
        TimeChart(title, unit, short, lines, decimals=1, bare=True)
        for title, unit, short, lines in (
            ("Arrivals", per, "requests/s", rates),
            ("Concurrency", "streams in flight", "streams", streams),
        )
        if lines
    ]
    marks = [(float(t), level.name) for t, level in zip(begins[:-1], cost.levels, strict=True)]
    span = (0.0, max(cost.total_s, 1.0))
    shown = marks if len(marks) > 1 or any(level.hint for level in cost.levels) else []
    return Preview(tuple(charts), Timeline([float(t) for t in edges], span, shown))


def _edges(total_s: float) -> Floats:
    """Seconds, or longer steps, so that there are at most MOST_BINS of them."""
    width = next((w for w in WIDTHS_S if total_s / w <= MOST_BINS), WIDTHS_S[-1])
    end_s = total_s or 1.0  # of a trace whose requests are all due at once
    return np.append(np.arange(0.0, end_s, width), end_s)


def _rate_lines(
    levels: Sequence[Level], begins: Floats, edges: Floats, names: Sequence[str]
) -> list[Line]:
    classes = sorted({k for level in levels for p in level.parts if p.is_open for k in p.classes})
    lines: list[Line] = []
    for k in classes:
        counts, covered = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1, bool)
        for level, begin in zip(levels, begins, strict=False):
            if any(k in part.classes and part.is_open for part in level.parts):
                counts += _arrivals_in(level, k, float(begin), edges)
                covered |= _overlaps(edges, float(begin), float(begin) + level.seconds)
        per_s = counts / np.diff(edges)
        values = [float(v) if c else None for v, c in zip(per_s, covered, strict=True)]
        lines.append(_line(names[k] if len(names) > 1 else "scheduled", len(lines), values))
    return lines


def _arrivals_in(level: Level, k: int, begin: float, edges: Floats) -> Floats:
    """How many arrivals of class `k` are due in each bin; past `whole_s` by the planned rate."""
    counts = np.histogram(level.due_s[level.traffic == k] + begin, edges)[0].astype(np.float64)
    if math.isinf(level.whole_s):
        return counts
    for part in level.parts:
        if isinstance(part.load, OpenLoop) and k in part.classes:
            share = part.shares[part.classes.index(k)] / sum(part.shares)
            rate = curve(part.load.rate_per_s, part.load.seconds)
            t_s = np.clip(edges - begin, level.whole_s, level.seconds)
            counts += share * np.diff(rate.area(np.rint(t_s * NS).astype(np.int64)))
    return counts


def _stream_lines(
    levels: Sequence[Level], begins: Floats, edges: Floats, names: Sequence[str]
) -> list[Line]:
    shown: dict[tuple[int, ...], Floats] = {}
    for level, begin in zip(levels, begins, strict=False):
        for part in level.parts:
            if isinstance(part.load, ClosedLoop):
                values = shown.setdefault(part.classes, np.full(len(edges) - 1, np.nan))
                inside = (edges[:-1] >= begin - 1e-9) & (edges[:-1] < begin + level.seconds)
                values[inside] = _streams(part, edges[:-1][inside] - begin)
    lines: list[Line] = []
    for classes, values in shown.items():
        name = ", ".join(names[k] for k in classes) if len(names) > 1 else "planned"
        cells = [None if math.isnan(v) else float(v) for v in values]
        lines.append(_line(name, len(lines), cells))
    return lines


def _streams(part: LoadPart, t_s: Floats) -> Floats:
    assert isinstance(part.load, ClosedLoop)
    shape = curve(part.load.concurrency, part.load.seconds)
    return shape.value(np.rint(np.maximum(t_s, 0) * NS).astype(np.int64))


def _overlaps(
    edges: Floats, begin: float, end: float
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return (edges[1:] > begin) & (edges[:-1] < max(end, begin + 1e-9))  # also where it is no time


def _line(name: str, number: int, values: list[float | None]) -> Line:
    """Each value holds until the next instant; the last one to the end."""
    closed = [*values, values[-1] if values else None]
    return Line(name, COLORS[number % len(COLORS)], closed, step=True)
