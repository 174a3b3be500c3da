"""The plan of a run as files to take away."""

import json

import streamlit as st

from loadgen.plan import PlanError, parse
from ui.plan_toml import plan_toml


def plan_downloads(plan: str) -> None:
    """Buttons for plan.json (the exact bytes) and plan.toml.  plan: the stored JSON."""
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "plan.json",
            data=plan.encode(),
            file_name="plan.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
        )
        try:  # an imported run has none of ours, and another version's may not parse
            toml = plan_toml(parse(json.loads(plan)))
        except PlanError:
            return
        st.download_button(
            "plan.toml",
            data=toml,
            file_name="plan.toml",
            mime="application/toml",
            on_click="ignore",
            icon=":material/download:",
        )
