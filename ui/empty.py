"""What pages show when there is nothing yet: one sentence and the button that changes it."""

from typing import Literal

import streamlit as st

from loadgen.launch import start
from loadgen.run_folder import data_folder
from ui import page_files
from ui.demo import demo_plan


def demo_button(kind: Literal["primary", "secondary"] = "primary") -> None:
    """Starts the demo sweep and goes to watch it."""
    if st.button("Run the demo", icon=":material/play_arrow:", type=kind, key="run_demo"):
        uid = start(demo_plan(), data_folder())
        st.switch_page(page_files.LIVE, query_params={"run": uid})


def no_runs_yet() -> None:
    """The Runs page of a fresh installation."""
    with st.container(border=True, key="card_empty", horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown("## No runs yet", text_alignment="center")
        st.markdown(
            "The demo loads a simulated GPU server on this machine with 1 to 32 streams for one "
            "minute, and shows what Headway measures. It needs no key and no network.",
            text_alignment="center",
            width=560,
        )
        demo_button()
        st.space("small")


def no_run_under_way() -> None:
    """The Live page while nothing runs."""
    st.title("Live", anchor=False)
    with st.container(border=True, key="card_idle", horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown("## Nothing is running", text_alignment="center")
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.page_link(page_files.NEW_RUN, label="New run", icon=":material/play_circle:")
            st.page_link(page_files.RUNS, label="All runs", icon=":material/stacks:")
        demo_button("secondary")
        st.space("small")
