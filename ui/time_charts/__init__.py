"""Line charts over seconds that stay mounted while data change (a Streamlit component of ours).

st.plotly_chart remounts a changed figure and so loses zoom, legend and hover on every live tick.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

HERE = Path(__file__).parent
INDIGO, ORANGE, TEAL, RED, GREY = "#6E63E6", "#F76B15", "#12A594", "#E5484D", "#8D99AE"


@dataclass(frozen=True, slots=True)
class Line:
    """One line; values belong to the shared seconds, None is a gap, step holds until the next."""

    name: str
    color: str
    values: Sequence[float | None]
    step: bool = False

    def to_dict(self) -> dict[str, Any]:
        """What the component's JavaScript reads."""
        values = list(self.values)
        return {"name": self.name, "color": self.color, "values": values, "step": self.step}


@dataclass(frozen=True, slots=True)
class TimeChart:
    """One chart: its title, its unit in words and short, and its lines from back to front."""

    title: str
    unit: str
    short_unit: str
    lines: Sequence[Line]
    decimals: int = 0
    fill_first: bool = False
    bare: bool = False  # a part of a card: no frame, no legend for one line, no latest values

    def to_dict(self) -> dict[str, Any]:
        """What the component's JavaScript reads."""
        return {
            "title": self.title,
            "unit": self.unit,
            "short_unit": self.short_unit,
            "series": [line.to_dict() for line in self.lines],
            "decimals": self.decimals,
            "fill_first": self.fill_first,
            "bare": self.bare,
        }


@dataclass(frozen=True, slots=True)
class Timeline:
    """The seconds that all charts share, the stretch they show, and marks such as stage begins."""

    t_s: Sequence[float]
    range_s: tuple[float, float]
    marks: Sequence[tuple[float, str]] = ()


def time_charts(charts: Sequence[TimeChart], timeline: Timeline, key: str) -> None:
    """Draw the charts side by side; zoom, pointer and legend live in the browser.

    Updates may be skipped by the browser, so each call sends the whole (bounded) window.
    """
    _component()(
        key=key,
        data={
            "charts": [chart.to_dict() for chart in charts],
            "t_s": list(timeline.t_s),
            "range_s": list(timeline.range_s),
            "marks": [{"t_s": t, "label": label} for t, label in timeline.marks],
        },
    )


@cache
def _component() -> Any:
    # The text is sent with each update: indentation and comments would be most of a live tick.
    js = (HERE / "time_charts.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in js.splitlines())
    return component(
        "headway_time_charts",
        html='<div class="charts"></div>',
        css=(HERE / "time_charts.css").read_text(encoding="utf-8"),
        js="\n".join(line for line in lines if line and not line.startswith("//")),
    )
