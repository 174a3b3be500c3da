"""The Start card: what the plan will ask for, its load over time, its files."""

import json
from dataclasses import dataclass

import streamlit as st

from loadgen.plan import Plan, PlanError, parse
from ui.forecast import forecast, forecast_text
from ui.load_preview import Preview, load_preview
from ui.plain import label
from ui.plan_text import plan_downloads
from ui.plan_toml import plan_toml
from ui.time_charts import time_charts


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is shown of a plan before it runs; `problem`: a file of its load cannot be used."""

    text: str = ""
    notes: tuple[str, ...] = ()
    preview: Preview | None = None
    problem: str = ""


def outlook_of(plan: Plan) -> Outlook:
    """Anew only if the plan has changed in more than its name."""
    return _outlook(plan.model_copy(update={"name": "run"}).to_json())


@st.cache_data(max_entries=50, show_spinner=False)
def _outlook(plan_json: bytes) -> Outlook:
    plan = parse(json.loads(plan_json))
    try:
        cost = forecast(plan)
        names = [traffic.name for traffic in plan.traffic()]
        return Outlook(forecast_text(cost), cost.notes, load_preview(cost, names))
    except (ValueError, OSError) as error:  # PlanError, TraceError
        return Outlook(problem=str(error))


def show_outlook(outlook: Outlook) -> None:
    """The load over time; what of the forecast is a guess."""
    preview = outlook.preview
    if preview and preview.charts:
        names = "_".join(str(len(chart.lines)) for chart in preview.charts)
        time_charts(preview.charts, preview.timeline, key=f"load_preview_{names}")
    for note in outlook.notes:
        st.caption(label(note, 400))


def show_files(plan: Plan) -> None:
    """The plan to take away, and the command that runs it."""
    plan_downloads(plan.to_json().decode())
    try:
        toml = plan_toml(plan)
    except PlanError as error:
        st.code("headway run plan.json", language=None)
        st.caption(str(error))
        return
    st.code("headway run plan.toml", language=None)
    with st.expander("plan.toml as text"):
        st.code(toml, language="toml", height=380)
