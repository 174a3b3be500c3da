"""TTFT by percentile: the tail stretched out, with its interval, one line per load level."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.frames import Floats
from analysis.quantiles import intervals, percentile, ranks
from charts.limits import slo_line
from charts.theme import MOST_MARKS, alpha, base, float32, level_colours, log_ticks, say

TICKS = (0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999)
REMAIN = 10  # samples that must lie above the last point of a line
MOST_BANDS = 12  # levels; more bands on each other tell nothing
LOG_RATIO = 8  # medians of the levels further apart than this need a log axis


def ttft_percentile(frame: pd.DataFrame, slo_ms: float | None = None) -> go.Figure:
    """x = -log10(1 - p), y = TTFT in ms, band = 95 % order-statistic interval.

    frame: level, clock, ms; one row per complete request and clock it is timed by
    (analysis.chart_frames.latency_samples): dotted from send where a schedule gives another line.
    A line ends where fewer than 10 samples remain; a level of less than 20 shows its median only.
    """
    figure = base(go.Figure())
    levels = _parts(frame)
    if not levels:
        return say(figure, "No request was answered, so there is no TTFT to show.")
    has_bands = len(levels) <= MOST_BANDS
    marks = (MOST_MARKS - 100) // len(levels) // (3 if has_bands else 1)
    points = int(np.clip(marks - len(TICKS), 8, 72))
    grid = _grid(max(len(values) for _, values in levels), points)
    of_level = list(dict.fromkeys(level.name for level, _ in levels))
    colours = dict(zip(of_level, level_colours(len(of_level)), strict=True))
    for level, values in levels:
        colour = colours[level.name]
        if len(values) < 2 * REMAIN:
            _median(figure, level.said, values, colour)
            continue
        p = grid[grid <= 1 - REMAIN / len(values) + 1e-9]
        if has_bands and not level.is_beside:
            _band(figure, level.said, (values, p), colour)
        _line(figure, level, (values, p), colour)
    _axes(figure, [values for _, values in levels], slo_ms)
    return figure


class _Line(NamedTuple):
    """name: the level's; is_beside: timed from send where the schedule's line is drawn too."""

    name: str
    said: str
    is_beside: bool


def _parts(frame: pd.DataFrame) -> list[tuple[_Line, Floats]]:
    """Each line with its samples in order."""
    if not len(frame):
        return []
    known = frame.loc[frame["ms"].notna()]
    clocks: dict[str, set[str]] = {}
    for level, clock in known[["level", "clock"]].drop_duplicates().itertuples(index=False):
        clocks.setdefault(str(level), set()).add(str(clock))
    found: list[tuple[_Line, Floats]] = []
    for (level, clock), part in known.groupby(["level", "clock"], sort=False):
        is_both = len(clocks[str(level)]) > 1
        said = f"{level}, from {clock}" if is_both else str(level)
        line = _Line(str(level), said, is_both and clock == "send")
        found.append((line, np.sort(part["ms"].to_numpy("float64"))))
    return found


def _grid(most: int, points: int) -> Floats:
    """Percentiles 0..1, evenly spaced on the axis, the named ones among them."""
    last = -np.log10(REMAIN / most) if most > REMAIN else 0.0
    even = 1 - 10 ** -np.linspace(0, last, points)
    return np.unique(np.r_[even, [tick for tick in TICKS if -np.log10(1 - tick) <= last]])


def _band(figure: go.Figure, level: str, on: tuple[Floats, Floats], colour: str) -> None:
    values, p = on
    x = -np.log10(1 - p)
    low, high = ranks(len(values), p)
    both = (low >= 1) & (high <= len(values))
    bottom, top = values[low[both].astype(int) - 1], values[high[both].astype(int) - 1]
    figure.add_scatter(
        x=float32(np.r_[x[both], x[both][::-1]]),
        y=float32(np.r_[top, bottom[::-1]]),
        fill="toself",
        fillcolor=alpha(colour, 0.15),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        legendgroup=level,
    )


def _line(figure: go.Figure, level: _Line, on: tuple[Floats, Floats], colour: str) -> None:
    values, p = on
    figure.add_scatter(
        x=float32(-np.log10(1 - p)),
        y=float32(np.quantile(values, p)),
        mode="lines",
        name=f"{level.said} · n={len(values):,}",
        legendgroup=level.said,
        line={"color": colour, "width": 1.6, "dash": "dot"}
        if level.is_beside
        else {"color": colour, "width": 2.4},
        customdata=float32(100 * p),
        hovertemplate="p%{customdata:.4~g} · %{y:,.0f} ms<extra>" + level.said + "</extra>",
    )


def _median(figure: go.Figure, level: str, values: Floats, colour: str) -> None:
    middle, bounds = percentile(values, 0.5), intervals(values, [0.5])[0]
    assert middle is not None
    low = bounds.low if bounds.low is not None else middle
    high = bounds.high if bounds.high is not None else middle
    figure.add_scatter(
        x=float32([-np.log10(0.5)]),
        y=float32([middle]),
        error_y={
            "symmetric": False,
            "array": float32([high - middle]),
            "arrayminus": float32([middle - low]),
            "width": 4,
        },
        mode="markers",
        name=f"{level} · n={len(values):,}, median only",
        legendgroup=level,
        marker={"color": colour, "size": 8},
        hovertemplate="p50 · %{y:,.0f} ms<extra>" + level + "</extra>",
    )


def _axes(figure: go.Figure, values: list[Floats], slo_ms: float | None) -> None:
    medians = [float(np.median(v)) for v in values]
    is_log = min(medians) > 0 and max(medians) / min(medians) > LOG_RATIO
    most = max(len(v) for v in values)
    last = max(-np.log10(min(REMAIN / most, 0.5)), 0.6)
    ticks = [tick for tick in TICKS if -np.log10(1 - tick) <= last + 0.01]
    figure.update_xaxes(
        title="percentile of requests",
        tickvals=[-np.log10(1 - tick) for tick in ticks],
        ticktext=[f"p{100 * tick:g}" for tick in ticks],
        range=[0, last * 1.01],
        unifiedhovertitle={"text": "Time to first token"},
    )
    if is_log:
        low, high = min(v[0] for v in values) * 0.8, max(v[-1] for v in values) * 1.1
        at, text = log_ticks(low, high)
        figure.update_yaxes(title="TTFT, ms (log)", type="log", tickvals=at, ticktext=text)
    else:
        figure.update_yaxes(title="TTFT, ms", rangemode="tozero")
    if slo_ms is not None:
        slo_line(figure, slo_ms)
