"""New run: a form over the whole plan; beside it what it will cost, and what is wrong."""

import os

import streamlit as st

from loadgen.launch import start
from loadgen.plan import Plan
from loadgen.run_folder import data_folder
from ui import page_files
from ui.card import card
from ui.form_places import Problem
from ui.form_source import asked_source, fields_of, show_source, upload
from ui.form_start import outlook_of, show_files, show_outlook
from ui.plain import counted
from ui.plan_form import bad_files, plan_of, suggested_name
from ui.plan_source import Source
from ui.plan_steps import Boxes, read_steps


def planned(source: Source, boxes: Boxes) -> tuple[Plan | None, list[Problem]]:
    """The plan of the form under a name, or of the file as it is; else what is wrong with it."""
    if not is_form:
        told = bad_files(source.plan) if source.plan else []
        return (None if told else source.plan), [Problem("start", "", text) for text in told]
    suggested = suggested_name(form)
    name = fields_of(source).text(
        "name", "Name of the run", bind=None, max_chars=200, placeholder=suggested
    )
    return plan_of(form | {"name": name.strip() or suggested}, os.environ)


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("New run", anchor=False, width="stretch")
    uploaded = upload()
source = asked_source(uploaded)
is_form = show_source(source)
left, right = st.columns([3, 2], gap="medium")
boxes = Boxes()
with left:
    form = read_steps(fields_of(source), boxes) if is_form else {}
with right:
    box = card("start", "Start", height="content")
    boxes.mark("start", box)
with box:
    plan, problems = planned(source, boxes)
    outlook = outlook_of(plan) if plan else None
    if outlook and outlook.problem:
        plan, problems = None, [*problems, Problem("load", "", outlook.problem)]
    if plan and outlook:
        st.markdown(outlook.text)
    else:
        st.caption(f"{counted(len(problems), 'field')} to fill in or to change: see the steps.")
    pressed = st.button(
        "Start run", type="primary", icon=":material/play_arrow:", disabled=plan is None
    )
    if plan and outlook:
        show_outlook(outlook)
        show_files(plan)
boxes.show(problems)
if plan and pressed:
    st.switch_page(page_files.LIVE, query_params={"run": start(plan, data_folder())})
