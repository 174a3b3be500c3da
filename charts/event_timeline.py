"""One answer as a stair of its events: waiting is flat, a batch is upright."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.frames import Floats, floats, is_in, where, words
from charts.theme import (
    ACCENT,
    BAD,
    GOOD,
    MOST_MARKS,
    QUIET,
    WARM,
    alpha,
    base,
    float32,
    say,
)
from storage.records import KINDS

COLOURS = {
    "content": ACCENT,
    "reasoning": WARM,
    "tool": GOOD,
    "refusal": "#B453C6",
    "error": BAD,
    "malformed": BAD,
}
"""Kinds that carry tokens, and failures; all others are quiet."""
MOST_EVENTS = MOST_MARKS // 2
HEIGHT = 290
BESIDE = 0.2
"""A wait below this share of the axis has no room for its name."""


def event_timeline(frame: pd.DataFrame) -> go.Figure:
    """x = ms after the request was sent, y = events so far, one point for each.

    frame: kind, ms, so_far (analysis.chart_frames.answer_events).  Of an answer of more than
    MOST_EVENTS events, every so-manieth is drawn.
    """
    figure = base(go.Figure(), HEIGHT)
    if not len(frame):
        return say(figure, "Not one event came.")
    shown = frame.iloc[:: -(-len(frame) // MOST_EVENTS)]
    ms = floats(frame, "ms")
    _stair(figure, shown)
    for kind in dict.fromkeys(words(shown, "kind")):
        n = int(is_in(frame, "kind", kind).sum())
        _points(figure, where(shown, is_in(shown, "kind", kind)), kind, n)
    most_ms = max(float(ms.max()) * 1.03, 1)
    _first_token(figure, ms[is_in(frame, "kind", *KINDS)], most_ms)
    figure.update_xaxes(
        title="ms after the request was sent",
        range=[0, most_ms],
        unifiedhovertitle={"text": "%{x:,.1f} ms after the send"},
    )
    return figure.update_yaxes(title="events so far", rangemode="tozero")


def _stair(figure: go.Figure, shown: pd.DataFrame) -> None:
    """From nothing at the send; a step at each arrival."""
    figure.add_scatter(
        x=float32(np.r_[0, floats(shown, "ms")]),
        y=float32(np.r_[0, floats(shown, "so_far")]),
        mode="lines",
        line={"color": alpha(QUIET, 0.6), "width": 1.2, "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )


def _points(figure: go.Figure, part: pd.DataFrame, kind: str, n: int) -> None:
    figure.add_scatter(
        x=float32(floats(part, "ms")),
        y=float32(floats(part, "so_far")),
        mode="markers",
        name=f"{kind} · n={n:,}",
        marker={"color": COLOURS.get(kind, QUIET), "size": 7 if n <= 200 else 4},
        hovertemplate="%{y:,.0f}<extra>" + kind + "</extra>",
    )


def _first_token(figure: go.Figure, token_ms: Floats, most_ms: float) -> None:
    """The wait for it, shaded and named: within, or beside it where that is too narrow."""
    if not len(token_ms):
        return
    ttft_ms = float(token_ms[0])
    figure.add_shape(
        type="rect",
        x0=0,
        x1=ttft_ms,
        yref="paper",
        y0=0,
        y1=1,
        line={"width": 0},
        fillcolor=alpha(QUIET, 0.1),
        layer="below",
    )
    figure.add_annotation(
        text=f"TTFT {ttft_ms:,.0f} ms",
        x=ttft_ms if ttft_ms < BESIDE * most_ms else 0,
        xanchor="left",
        xshift=6,
        yref="paper",
        y=1,
        yanchor="top",
        showarrow=False,
        font={"size": 11},
    )
