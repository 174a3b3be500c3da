"""Endpoints: one request, explained event by event, with whatever is odd about its answer."""

from typing import Any

import streamlit as st

from loadgen.check_process import run_check
from ui.card import card
from ui.endpoint_panels import (
    check_verdict,
    check_warnings,
    explanation,
    nothing_checked_yet,
)
from ui.endpoint_view import target_of
from ui.plan_steps import endpoint_fields

LAST = "last_check"  # of this browser tab: what was asked, what was said; gone with the tab
FOUND = (
    "found_model"  # to be written into the Model field, which its widget forbids once it is there
)

if found := st.session_state.pop(FOUND, None):
    st.session_state["model"] = found
st.title("Endpoints", anchor=False)
left, right = st.columns([2, 3], gap="medium")
with left, card("endpoint", "Endpoint", height="content"):
    typed: dict[str, Any] = endpoint_fields()
    target = target_of(typed)
    if not target["url"].startswith("sim://"):
        st.caption("Without a model, the first one that the server lists is asked.")
    pressed = st.button(
        "Check this endpoint",
        type="primary",
        icon=":material/troubleshoot:",
        disabled=not target["url"],
    )
with right:
    if pressed:
        with st.spinner("Asking for a few tokens …", show_time=True):
            answer = run_check(target)
        if answer["ok"] and not target["model"]:
            target["model"] = st.session_state[FOUND] = answer["asked"]["model"]
        st.session_state[LAST] = (target, answer)
        st.rerun()
    asked, said = st.session_state.get(LAST, (None, None))
    if said is None:
        nothing_checked_yet()
    elif asked != target:
        nothing_checked_yet()
        st.caption("The fields have changed since the last check.")
    else:
        check_verdict(said, typed)
        check_warnings(said)
if said is not None and asked == target and said.get("events") is not None:
    explanation(said)
