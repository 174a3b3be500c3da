"""The Start card: what the plan will ask for, its load over time, its files."""

import json
from dataclasses import dataclass

import streamlit as st

from analysis.forecast_advice import level_advice
from analysis.sample_size import USUAL, Spread, earlier_spread
from loadgen.plan import Plan, PlanError, parse
from ui.data import ask, has_run_folders
from ui.forecast import forecast, forecast_text
from ui.load_preview import Preview, load_preview
from ui.plain import label
from ui.plan_text import plan_downloads
from ui.plan_toml import plan_toml
from ui.time_charts import time_charts


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is shown of a plan before it runs; `problem`: a file of its load cannot be used.

    advice: what its requests will be enough for.
    """

    text: str = ""
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    preview: Preview | None = None
    problem: str = ""


def outlook_of(plan: Plan) -> Outlook:
    """Anew only if the plan has changed in more than its name."""
    spread = _spread(plan.target.url, plan.target.model) if has_run_folders() else USUAL
    return _outlook(plan.model_copy(update={"name": "run"}).to_json(), spread)


@st.cache_data(ttl=60, max_entries=20, show_spinner=False)
def _spread(url: str, model: str) -> Spread:
    return earlier_spread(ask, url, model)


@st.cache_data(max_entries=50, show_spinner=False)
def _outlook(plan_json: bytes, spread: Spread) -> Outlook:
    plan = parse(json.loads(plan_json))
    try:
        cost = forecast(plan)
        names = [traffic.name for traffic in plan.traffic()]
        advice = tuple(level_advice(cost.levels, names, spread))
        return Outlook(forecast_text(cost), cost.notes, advice, load_preview(cost, names))
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
    if outlook.advice:
        st.markdown("**What that many requests are enough for**")
        st.caption("  \n".join(label(said, 400) for said in outlook.advice))


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
