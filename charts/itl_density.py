"""Gaps between tokens, log-log: the bulk and the rare stalls in one picture, per load level."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.frames import Floats, floats
from analysis.gaps import buckets_ms
from charts.limits import stall_line
from charts.theme import MOST_MARKS, alpha, base, float32, level_colours, log_ticks, say
from storage.buckets import bucket

TITLES = {
    "gap": "gap between chunks, ms (log)",
    "itl": "gap per token, ms (log)",
}
NOTHING = {
    "gap": "No request has two chunks, so there is no gap to show.",
    "itl": "The tokens in each chunk are not known, so only chunk gaps exist.",
}
AT_LEFT = {
    "xref": "paper",
    "x": 0,
    "xanchor": "left",
    "xshift": 4,
    "yref": "paper",
    "y": 1,
    "yanchor": "top",
    "showarrow": False,
    "font": {"size": 11},
}
FINEST = 2  # buckets of 2 % drawn as one step of 4 %: enough to see a mode, few enough marks
LEAST_MS = 0.05  # shorter gaps came together; drawn in one step, lest they stretch the axis
MOST_FILLED = 3  # levels; more fills on each other are mud


def itl_density(frame: pd.DataFrame, metric: str = "gap", stall_ms: float = 250) -> go.Figure:
    """x = gap in ms, y = share of gaps per step in %, both log; stall share in the legend.

    frame: level, metric, b, n (analysis.chart_frames.gap_histogram); metric: "gap" or "itl".
    Every step is equally wide on the log axis, so heights compare.
    """
    figure = base(go.Figure())
    mine = frame.loc[(frame["metric"].astype(str) == metric) & (floats(frame, "n") > 0)]
    levels = [(str(level), part) for level, part in mine.groupby("level", sort=False)]
    if not levels:
        return say(figure, NOTHING[metric])
    least = int(bucket(LEAST_MS * 1e3))
    first, last = (max(int(b), least) for b in (mine["b"].min(), mine["b"].max()))
    finest = FINEST if len(levels) <= MOST_FILLED else 2 * FINEST
    most_steps = max(MOST_MARKS // len(levels) - 4, 4)
    width = max(finest, -(-(last - first + 1) // most_steps))
    starts = np.arange(first - width, last + 2 * width, width, dtype="float64")
    edges_ms = buckets_ms(starts) / 1.02**0.5  # a bucket's value is its middle
    shares = [_shares(part, starts) for _, part in levels]
    floor = 10.0 ** np.floor(np.log10(min(s[s > 0].min() for s in shares)))
    colours = level_colours(len(levels))
    for (level, part), share, colour in zip(levels, shares, colours, strict=True):
        line = _steps((edges_ms, np.maximum(share, floor / 2), share), level, colour)
        figure.add_trace(line.update(name=_legend(part, level, stall_ms)))
    if len(levels) <= MOST_FILLED:
        figure.update_traces(fill="tozeroy")
    _axes(figure, (edges_ms, floor, max(s.max() for s in shares)), TITLES[metric], stall_ms)
    if int(mine["b"].min()) < least:
        figure.add_annotation(text=f"≤ {LEAST_MS:g} ms", **AT_LEFT)
    return figure


def _shares(part: pd.DataFrame, starts: Floats) -> Floats:
    """Share of the level's gaps within each step, %."""
    counts, b = floats(part, "n"), np.maximum(floats(part, "b"), float(bucket(LEAST_MS * 1e3)))
    sums, _ = np.histogram(b, bins=np.r_[starts, starts[-1] + 1] - 0.5, weights=counts)
    return 100 * sums / counts.sum()


def _legend(part: pd.DataFrame, level: str, stall_ms: float) -> str:
    counts = floats(part, "n")
    slow = buckets_ms(floats(part, "b")) > stall_ms
    stalls = 100 * counts[slow].sum() / counts.sum()
    told = f"{stalls:.2g} % over {stall_ms:g} ms" if stalls else f"none over {stall_ms:g} ms"
    return f"{level} · n={counts.sum():,.0f} · {told}"


def _steps(on: tuple[Floats, Floats, Floats], level: str, colour: str) -> go.Scatter:
    """One level's outline.  on: left edges in ms, drawn shares (empty: below the axis), shares."""
    edges_ms, drawn, shares = on
    return go.Scatter(
        x=float32(edges_ms),
        y=float32(drawn),
        mode="lines",
        line={"color": colour, "width": 1.8, "shape": "hv"},
        fillcolor=alpha(colour, 0.12),
        customdata=float32(shares),
        hovertemplate="%{customdata:.3g} %<extra>" + level + "</extra>",
    )


def _axes(figure: go.Figure, on: tuple[Floats, float, float], title: str, stall_ms: float) -> None:
    edges_ms, floor, most = on
    low, high = float(edges_ms[0]), float(edges_ms[-1])
    if high < stall_ms < 20 * high:
        high = stall_ms * 1.6
    at, text = log_ticks(low, high)
    span = [np.log10(low), np.log10(high)]
    figure.update_xaxes(type="log", title=title, tickvals=at, ticktext=text, range=span)
    figure.update_xaxes(unifiedhovertitle={"text": "from %{x:.3~r} ms on"})
    at, text = log_ticks(floor, most * 1.6)
    span = [np.log10(floor), np.log10(most * 1.6)]
    figure.update_yaxes(type="log", tickvals=at, ticktext=text, range=span)
    figure.update_yaxes(title="share of gaps, % (log)")
    if low < stall_ms < high:
        stall_line(figure, stall_ms)
