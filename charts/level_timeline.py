"""One load level over its time: TTFT of each request, streams in flight, and its window shaded."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.frames import floats, is_in, where, words
from charts.theme import ACCENT, GOOD, alpha, base, float32, say


def level_timeline(
    frame: pd.DataFrame, level: str | None = None, window_s: tuple[float, float] | None = None
) -> go.Figure:
    """Two panels over seconds from the level's begin.

    frame: analysis.chart_frames.level_timeline.  level: which one, else the frame's first.
    window_s: shaded where its numbers come from.
    """
    named = words(frame, "level")
    mine = where(frame, is_in(frame, "level", level or (named[0] if named else "")))
    if not len(mine):
        return say(base(go.Figure()), "Nothing is known of when this level's requests were sent.")
    figure = base(make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08), 290)
    ttft, streams = (where(mine, is_in(mine, "what", what)) for what in ("ttft_ms", "in_flight"))
    if len(ttft):
        n = int(np.nansum(floats(ttft, "n")))
        every = f" of {n:,}, evenly chosen" if n > len(ttft) else ""
        figure.add_scatter(
            x=float32(floats(ttft, "t_s")),
            y=float32(floats(ttft, "value")),
            mode="markers",
            name=f"TTFT (n={len(ttft):,}{every})",
            marker={"color": alpha(ACCENT, 0.6), "size": 5},
            row=1,
            col=1,
        )
    if len(streams):
        figure.add_scatter(
            x=float32(floats(streams, "t_s")),
            y=float32(floats(streams, "value")),
            mode="lines+markers" if len(streams) < 3 else "lines",
            name=f"streams in flight (n={len(streams):,} steps)",
            line={"color": GOOD, "width": 1.8, "shape": "hvh"},
            row=2,
            col=1,
        )
    figure.update_yaxes(title_text="TTFT, ms", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="streams", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title_text="seconds of the level", row=2, col=1)
    if window_s is not None:
        figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=window_s[0],
            x1=window_s[1],
            y0=0,
            y1=1,
            fillcolor=alpha(ACCENT, 0.12),
            line={"color": alpha(ACCENT, 0.7), "width": 1},
            layer="below",
        )
    return figure
