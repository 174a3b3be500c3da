"""What a longer prompt costs: TTFT over prompt tokens, with the line that says how much."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.frames import Floats, floats
from charts.theme import ACCENT, QUIET, WARM, alpha, base, float32, say

ENDS = 24  # points of a line and of each edge of its band


def ttft_prompt(frame: pd.DataFrame, slope: dict[str, Any] | None = None) -> go.Figure:
    """x = prompt tokens, y = TTFT in ms; points are requests, the line is Theil-Sen's.

    frame: tokens, ms, n (analysis.chart_frames.prompt_points).  slope: `prompt_slope` of
    `show --json`; without one only the points are drawn.
    """
    figure = base(go.Figure())
    if not len(frame):
        return say(figure, _why(slope))
    x, y = floats(frame, "tokens"), floats(frame, "ms")
    n, shown = int(floats(frame, "n")[0]), len(frame)
    part = f", every {-(-n // shown)}. drawn" if shown < n else ""
    figure.add_scatter(
        x=float32(x),
        y=float32(y),
        mode="markers",
        name=f"requests · n={n:,}{part}",
        marker={"color": alpha(QUIET, 0.55), "size": 5},
        hovertemplate="%{x:,.0f} tokens · %{y:,.0f} ms<extra></extra>",
    )
    if slope and slope["plain"]:
        _fit(figure, slope["plain"], x)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title="prompt tokens", rangemode="tozero")
    return figure.update_yaxes(title="TTFT, ms", rangemode="tozero")


def _why(slope: dict[str, Any] | None) -> str:
    return (slope or {}).get("reason") or "No request was answered, so there is no TTFT to show."


def _fit(figure: go.Figure, plain: dict[str, Any], x: Floats) -> None:
    line, squares = plain["theil_sen"], plain["least_squares"]
    ends = np.linspace(x.min(), x.max(), ENDS)
    middle = float(np.median(x))
    at_middle = line["at_zero_ms"] + line["per_1k_ms"] * middle / 1e3
    low, high = (at_middle + side * (ends - middle) / 1e3 for side in line["ci95"])
    bottom, top = np.minimum(low, high), np.maximum(low, high)
    figure.add_scatter(
        x=float32(np.r_[ends, ends[::-1]]),
        y=float32(np.r_[top, bottom[::-1]]),
        fill="toself",
        fillcolor=alpha(ACCENT, 0.15),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
    )
    for of, name, look in (
        (line, f"{line['per_1k_ms']:+,.3g} ms per 1,000 tokens", {"color": ACCENT, "width": 2.4}),
        (
            squares,
            f"least squares: {squares['per_1k_ms']:+,.3g} ms",
            {"color": WARM, "width": 1.4, "dash": "dot"},
        ),
    ):
        figure.add_scatter(
            x=float32(ends),
            y=float32(of["at_zero_ms"] + of["per_1k_ms"] * ends / 1e3),
            mode="lines",
            name=name,
            line=look,
            hoverinfo="skip",
        )
