"""Runs: everything that was measured here, newest first; a row opens its run."""

import pandas as pd
import streamlit as st

from loadgen.run_folder import terminal
from ui import page_files
from ui.data import ask
from ui.empty import no_runs_yet
from ui.guard import guard
from ui.runs_table import runs_columns, runs_table

LIVE = ("queued", "starting", "running", "stopping")


def listed() -> None:
    """The table; selecting a row opens the Run page, or Live for a run under way."""
    with guard():
        runs = ask("runs")
        chosen = st.dataframe(
            runs_table(runs, st.context.timezone),
            column_config=runs_columns(),
            hide_index=True,
            on_select="rerun",
            selection_mode=["single-row", "single-cell"],
            key="runs_table",
            height="content",
            row_height=40,
            alt="All runs with state, endpoint, load, requests, failures and TTFT p95",
        )["selection"]
        rows = [*chosen["rows"], *(row for row, _ in chosen["cells"])]
        if rows:
            open_run(runs.iloc[rows[0]])


def open_run(run: pd.Series) -> None:
    """Leave for the page that shows this run best."""
    page = page_files.LIVE if run["state"] in LIVE else page_files.RUN
    st.switch_page(page, query_params={"run": run["run_uid"]})


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Runs", anchor=False, width="stretch")
    st.page_link(page_files.NEW_RUN, label="New run", icon=":material/add:")
runs = ask("runs")
if runs.empty:
    no_runs_yet()
    st.stop()
under_way = any(not terminal(state) for state in runs["state"])
st.fragment(listed, run_every=2 if under_way else None)()
