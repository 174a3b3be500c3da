"""The load generator's own health over the run: how late it was, what that cost, how busy."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.frames import floats
from charts.theme import ACCENT, BAD, QUIET, WARM, base, float32, say

PANELS = (
    (
        "lateness, ms",
        (
            ("lag_ms", "read after stamp, p99", ACCENT),
            ("loop_ms", "loop, worst", QUIET),
            ("pause_ms", "collector, worst", WARM),
            ("send_lag_ms", "send lag, p99", BAD),
        ),
    ),
    ("doubt, ms", (("bound_ms", "bound on arrivals, p99", ACCENT),)),
    ("CPU, % of a core", (("cpu_share", "busiest worker", QUIET),)),
)
PERCENT = ("cpu_share",)


def generator(frame: pd.DataFrame) -> go.Figure:
    """Three panels over the seconds of the run; each point is the worst worker's in that second.

    frame: analysis.chart_frames.generator_health.  The legend tells each line's worst value.
    """
    if not len(frame):
        return say(base(go.Figure()), "The load generator recorded nothing about itself.")
    figure = base(
        make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.06), height=430
    )
    x = float32(floats(frame, "sec"))
    for row, (title, lines) in enumerate(PANELS, start=1):
        for column, name, colour in lines:
            y = floats(frame, column) * (100 if column in PERCENT else 1)
            if np.isnan(y).all():
                continue
            figure.add_scatter(
                x=x,
                y=float32(y),
                mode="lines+markers" if len(y) < 3 else "lines",
                name=f"{name}: {np.nanmax(y):.3g} (n={np.sum(~np.isnan(y))})",
                line={"color": colour, "width": 1.6},
                row=row,
                col=1,
            )
        figure.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="seconds of the run", row=3, col=1)
    return figure
