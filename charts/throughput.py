"""What concurrency buys and what it costs: system output TPS and TTFT over streams in flight."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.frames import Floats, floats, words
from charts.limits import slo_line
from charts.theme import ACCENT, BAD, QUIET, WARM, alpha, base, float32, log_ticks, say

LOG_RATIO = 8  # levels further apart than this are spread on a log axis


def throughput(frame: pd.DataFrame, slo_ms: float | None = None) -> go.Figure:
    """Two panels over measured mean streams in flight: tok/s of the system; TTFT p50, p95 in ms.

    frame: one row per level (analysis.chart_frames.load_curve).  Bars are 95 % intervals; the
    dotted line is what the lowest level's pace per stream would give.
    """
    shown = frame.loc[floats(frame, "n") > 0].sort_values("in_flight")
    if not len(shown):
        return say(base(go.Figure()), "No level has an answered request.")
    figure = base(
        make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09), height=470
    )
    x = floats(shown, "in_flight")
    _tokens(figure, shown, x)
    _ttft(figure, shown, x)
    _axes(figure, x, shown)
    if slo_ms is not None:
        slo_line(figure, slo_ms, "y2")
    silent = [
        w for w, n in zip(words(frame, "level"), floats(frame, "n"), strict=True) if not n > 0
    ]
    if silent:
        figure.add_annotation(
            text=f"no answer at {', '.join(silent)}",
            xref="paper",
            yref="paper",
            x=1,
            y=1,
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            font={"color": BAD, "size": 11},
        )
    return figure


def _tokens(figure: go.Figure, shown: pd.DataFrame, x: Floats) -> None:
    y = floats(shown, "tps")
    known = ~np.isnan(y)
    if not known.any():
        figure.add_annotation(
            text="the endpoint does not tell its tokens",
            xref="x domain",
            yref="y domain",
            x=0.5,
            y=0.5,
            showarrow=False,
        )
    elif known.sum() > 1 and x[known][0] > 0:
        pace = y[known][0] / x[known][0]
        wide = np.geomspace(x[known][0], x[known][-1], 24)
        figure.add_scatter(
            x=float32(wide),
            y=float32(pace * wide),
            mode="lines",
            name="linear scaling",
            line={"color": QUIET, "dash": "dot", "width": 1.4},
            hoverinfo="skip",
            row=1,
            col=1,
        )
    figure.add_scatter(
        x=float32(x),
        y=float32(y),
        mode="lines+markers+text",
        text=words(shown, "level"),
        textposition="bottom right",
        textfont={"size": 10.5, "color": ACCENT},
        cliponaxis=False,
        name="system output TPS",
        line={"color": ACCENT, "width": 2.4},
        marker={"size": 8, "color": ACCENT},
        error_y=_bars(shown, ("tps", "tps_low", "tps_high"), ACCENT),
        customdata=np.c_[float32(floats(shown, "n")), float32(floats(shown, "failed"))],
        hovertemplate="%{text}: %{y:,.0f} tok/s · %{customdata[0]:,.0f} answered, "
        "%{customdata[1]:,.0f} failed<extra></extra>",
        row=1,
        col=1,
    )


def _ttft(figure: go.Figure, shown: pd.DataFrame, x: Floats) -> None:
    n = f"n={floats(shown, 'n').sum():,.0f}"
    for column, name, colour, width in (
        ("ttft_p50_ms", "TTFT p50", QUIET, 1.6),
        ("ttft_p95_ms", f"TTFT p95 · {n} requests", WARM, 2.4),
    ):
        is_tail = column == "ttft_p95_ms"
        of = (column, "ttft_p95_low_ms", "ttft_p95_high_ms")
        figure.add_scatter(
            x=float32(x),
            y=float32(floats(shown, column)),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": width},
            marker={"size": 8 if is_tail else 5},
            error_y=_bars(shown, of, colour) if is_tail else None,
            hovertemplate="%{y:,.0f} ms<extra>" + name[:8] + "</extra>",
            row=2,
            col=1,
        )


def _bars(shown: pd.DataFrame, of: tuple[str, str, str], colour: str) -> dict[str, object]:
    """Error bars of a 95 % interval; a side without a bound has none."""
    middle, low, high = (floats(shown, column) for column in of)
    return {
        "symmetric": False,
        "array": float32(np.nan_to_num(high - middle)),
        "arrayminus": float32(np.nan_to_num(middle - low)),
        "color": alpha(colour, 0.55),
        "thickness": 1.4,
        "width": 4,
    }


def _axes(figure: go.Figure, x: Floats, shown: pd.DataFrame) -> None:
    title = "streams in flight, measured mean"
    figure.update_xaxes(unifiedhovertitle={"text": "%{x:.3~r} streams in flight"})
    if x.min() > 0 and x.max() / x.min() > LOG_RATIO:
        span = [np.log10(x.min() / 1.25), np.log10(x.max() * 1.25)]
        powers = 2.0 ** np.arange(np.floor(np.log2(x.min())), np.ceil(np.log2(x.max())) + 1)
        figure.update_xaxes(
            type="log", range=span, tickvals=powers, ticktext=[f"{p:,g}" for p in powers]
        )
        title += " (log)"
    else:
        figure.update_xaxes(range=[0, x.max() * 1.1])
    figure.update_xaxes(title=title, row=2, col=1)
    # The ideal line leaves the panel: drawn whole, it would press the measured one flat.
    tallest = np.nanmax(np.r_[floats(shown, "tps"), floats(shown, "tps_high"), 0.0]) or 1.0
    figure.update_yaxes(title="system output, tok/s", range=[0, 1.25 * tallest], row=1, col=1)
    slow, fast = floats(shown, "ttft_p95_ms"), floats(shown, "ttft_p50_ms")
    if np.nanmin(fast) > 0 and np.nanmax(slow) / np.nanmin(fast) > LOG_RATIO:
        at, text = log_ticks(np.nanmin(fast) / 2, np.nanmax(slow) * 2)
        figure.update_yaxes(
            title="TTFT, ms (log)", type="log", tickvals=at, ticktext=text, row=2, col=1
        )
    else:
        figure.update_yaxes(title="TTFT, ms", rangemode="tozero", row=2, col=1)
