"""A limit drawn into a figure: the SLO across, the stall threshold upright; red and dotted.

Not plotly's add_hline/add_vline: on a log axis they put the line at v and its text at 10^v.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from charts.theme import BAD

LINE: dict[str, Any] = {"color": BAD, "dash": "dot", "width": 1.4}
TEXT: dict[str, Any] = {"showarrow": False, "font": {"color": BAD, "size": 11}}


def slo_line(figure: go.Figure, slo_ms: float, axis: str = "y") -> go.Figure:
    """A line across at the objective; axis: "y", or "y2" of a second panel, its type set before."""
    of_axis: Any = figure.layout[axis.replace("y", "yaxis")]
    is_log = of_axis.type == "log"
    figure.add_shape(
        type="line", xref="paper", x0=0, x1=1, yref=axis, y0=slo_ms, y1=slo_ms, line=LINE
    )
    return figure.add_annotation(
        text=f"SLO {slo_ms:,.6g} ms",
        xref="paper",
        x=0,
        xanchor="left",
        xshift=4,
        yref=axis,
        y=np.log10(slo_ms) if is_log else slo_ms,
        yanchor="bottom",
        **TEXT,
    )


def stall_line(figure: go.Figure, stall_ms: float) -> go.Figure:
    """An upright line at the stall threshold of a logarithmic x axis whose range is set."""
    of_axis: Any = figure.layout["xaxis"]
    low, high = of_axis.range
    is_far_right = np.log10(stall_ms) > low + 0.75 * (high - low)
    figure.add_shape(type="line", x0=stall_ms, x1=stall_ms, yref="paper", y0=0, y1=1, line=LINE)
    return figure.add_annotation(
        text=f"stall > {stall_ms:,.6g} ms",
        x=np.log10(stall_ms),
        xanchor="right" if is_far_right else "left",
        xshift=-6 if is_far_right else 6,
        yref="paper",
        y=1,
        yanchor="top",
        **TEXT,
    )
