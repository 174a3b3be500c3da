"""How every figure looks: one palette, transparent ground, quiet grid; reads on light and dark.

Font colour is left to whoever shows the figure: Streamlit's theme does it in the pages, `on_paper`
in a report.
"""

import colorsys
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

ACCENT = "#6E63E6"
QUIET = "#8D99AE"
BAD = "#E5484D"
GOOD = "#12A594"
WARM = "#F76B15"
GRID = "rgba(128,136,150,.18)"
CLEAR = "rgba(0,0,0,0)"

LEVELS = ("#12A594", "#2F8FD8", "#6E63E6", "#B453C6", "#E2589B", "#F28A30")
"""Load from light to heavy; equal lightness, so that each reads on white and on near black."""

# plotly.js 4 offers "Share chart…", which uploads to a cloud, unless told not to.
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
}

FONT = "Inter, system-ui, sans-serif"

MOST_MARKS = 5_000  # more than this makes a browser wait (measured)


def base(figure: go.Figure, height: int = 330) -> go.Figure:
    """The layout shared by all figures; returns the same figure."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        hovermode="x unified",
        legend={"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        modebar={"bgcolor": CLEAR},
        uirevision="keep",
    )
    axis: dict[str, Any] = {"gridcolor": GRID, "zeroline": False, "ticks": "", "automargin": True}
    figure.update_xaxes(spikethickness=1, spikedash="dot", spikecolor=QUIET, **axis)
    figure.update_yaxes(title_standoff=16, **axis)
    return figure


def on_paper(figure: go.Figure, *, ink: str = "#3C424C") -> go.Figure:
    """The figure with its own text colour, for places without a theme (a report, an image)."""
    return figure.update_layout(template=None, font={"color": ink, "size": 12, "family": FONT})


def say(figure: go.Figure, sentence: str) -> go.Figure:
    """Words in the middle of a figure that has nothing to draw, instead of empty axes."""
    figure.add_annotation(
        text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font={"size": 13}
    )
    return figure.update_xaxes(visible=False).update_yaxes(visible=False)


def alpha(colour: str, share: float) -> str:
    """The #RRGGBB colour at an opacity of 0..1."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def level_colours(n: int) -> list[str]:
    """n colours along LEVELS; one level takes the accent."""
    if n <= 1:
        return [ACCENT] * n
    anchors = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in LEVELS])
    at = np.linspace(0, len(LEVELS) - 1, n)
    mixed = [np.interp(at, np.arange(len(LEVELS)), anchors[:, i]) for i in range(3)]
    return [
        "#" + "".join(f"{round(255 * c):02X}" for c in _lively(*rgb))
        for rgb in zip(*mixed, strict=True)
    ]


def _lively(red: float, green: float, blue: float) -> tuple[float, float, float]:
    """Half-way mixes turn grey; give them back some saturation."""
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    return colorsys.hls_to_rgb(hue, light, min(1.0, max(saturation, 0.6)))


def log_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Tick values 1, 2, 5 x 10^k within [low, high] and their text; every 10^k of a wide range."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = (1, 2, 5) if np.log10(high / low) < 3 else (1,)
    values = [step * 10.0**k for k in decades for step in steps]
    kept = [value for value in values if low <= value * 1.0001 and value <= high * 1.0001]
    return kept, [f"{value:,.10g}" for value in kept]


def float32(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Half the bytes on the way to the browser, and still seven digits."""
    return np.asarray(values, dtype="float32")
