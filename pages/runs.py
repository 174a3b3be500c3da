"""Runs: everything that was measured here, newest first; a row opens its run."""

import pandas as pd
import streamlit as st

from loadgen.run_folder import data_folder, terminal
from ui import page_files
from ui.data import ask, has_run_folders
from ui.empty import no_runs_yet
from ui.guard import guard
from ui.import_view import import_popover
from ui.judged import verdict_of
from ui.runs_table import AGAIN, AGAIN_KEY, OPEN_KEY, runs_columns, runs_table

LIVE = ("queued", "starting", "running", "stopping")


def verdicts(runs: pd.DataFrame) -> list[str | None]:
    """May each run be believed?  None where it is not known yet."""
    return [verdict_of(data_folder(), run) for _, run in runs.iterrows()]


def listed() -> None:
    """The table; a name or a row opens the Run page, or Live for a run under way."""
    with guard():
        runs = ask("runs")
        if runs.empty:
            st.caption("Reading the runs …")
            return
        table = runs_table(runs, st.context.timezone, verdicts(runs))
        shown = st.dataframe(
            table,
            column_config=runs_columns(),
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            placeholder="–",
            key="runs_table",
            height="content",
            row_height=40,
            alt="All runs with state, endpoint, load, requests, failures and TTFT p95",
        )
        st.caption(
            f"Click a name to open its run, {AGAIN} to run it again with changes; by keyboard, "
            "Shift+Space on its row."
        )
        clicked = st.session_state.get(OPEN_KEY)
        for row in [*shown["selection"]["rows"], *([clicked["row"]] if clicked else [])]:
            open_run(runs.iloc[row])
        if again := st.session_state.get(AGAIN_KEY):
            uid = runs.iloc[again["row"]]["run_uid"]
            st.switch_page(page_files.NEW_RUN, query_params={"from": uid})


def open_run(run: pd.Series) -> None:
    """Leave for the page that shows this run best."""
    page = page_files.LIVE if run["state"] in LIVE else page_files.RUN
    st.switch_page(page, query_params={"run": run["run_uid"]})


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Runs", anchor=False, width="stretch")
    import_popover()
    st.page_link(page_files.NEW_RUN, label="New run", icon=":material/add:")
runs = ask("runs")
if runs.empty and not has_run_folders():
    no_runs_yet()
    st.stop()
settled = len(runs) and all(terminal(state) for state in runs["state"])
st.fragment(listed, run_every=None if settled else 2)()
