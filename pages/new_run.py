"""New run: endpoint, workload, load, objective; beside them what it will cost and what is wrong."""

import os
from typing import Any

import streamlit as st

from loadgen.launch import start
from loadgen.plan import Plan
from loadgen.run_folder import data_folder
from ui import page_files
from ui.card import card
from ui.plain import counted, label, number, seconds
from ui.plan_form import (
    Estimate,
    PlanFields,
    Problem,
    estimate,
    load_curve,
    plan_of,
    suggested_name,
)
from ui.plan_steps import STEPS
from ui.plan_text import plan_downloads
from ui.time_charts import INDIGO, Line, TimeChart, Timeline, time_charts


def show_problems(problems: list[Problem], step: str) -> None:
    """The step's own mistakes under its fields."""
    for problem in problems:
        if problem.step != step:
            continue
        tone, icon = ("gray", "edit") if problem.missing else ("red", "error")
        st.markdown(f":{tone}[:material/{icon}: {label(problem.text, 300)}]")


def show_estimate(plan: Plan, cost: Estimate) -> None:
    """Duration, requests and tokens; and the load over time."""
    assumed = "about " if cost.assumed else ""
    st.markdown(
        f"**{seconds(cost.total_s)}** · {assumed}{number(cost.requests, 2)} requests · "
        f"{number(cost.input_tokens, 2)} tokens in, {number(cost.output_tokens, 2)} out"
    )
    t_s, values = load_curve(plan, cost)
    closed = plan.stages[0].kind == "closed"
    unit = ("streams in flight", "streams") if closed else ("requests per second", "requests/s")
    chart = TimeChart(
        "Load", unit[0], unit[1], [Line("planned", INDIGO, values, step=True)], bare=True
    )
    time_charts([chart], Timeline(t_s, (0.0, max(t_s))), key="load_preview")
    if cost.assumed:
        st.caption(
            "Requests in closed loop depend on how fast the endpoint answers; here a stream is "
            "assumed to wait 0.3 s and then to yield 50 tokens/s."
        )


st.title("New run", anchor=False)
left, right = st.columns([3, 2], gap="medium")
typed: dict[str, Any] = {}
boxes = {}
for step, title, read in STEPS:
    with left:
        boxes[step] = card(step, title, height="content")
    with boxes[step]:
        typed |= read()
with right, card("start", "Start", height="content"):
    suggested = suggested_name(typed["model"], typed["kind"], typed["levels"])
    name = st.text_input("Name of the run", key="name", max_chars=200, placeholder=suggested)
    typed["name"] = name.strip() or suggested
    plan, problems = plan_of(PlanFields(**typed), os.environ)
    if plan:
        show_estimate(plan, estimate(plan))
    else:
        st.caption(f"{counted(len(problems), 'field')} to fill in or to change: see the steps.")
    pressed = st.button(
        "Start run", type="primary", icon=":material/play_arrow:", disabled=plan is None
    )
    if plan:
        plan_downloads(plan.to_json().decode())
        st.code("headway run plan.toml", language=None)
for step, box in boxes.items():
    with box:
        show_problems(problems, step)
if plan and pressed:
    st.switch_page(page_files.LIVE, query_params={"run": start(plan, data_folder())})
