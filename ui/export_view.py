"""The Run page's Export: a file made on disk when asked for, to download if it is not large."""

import re
from pathlib import Path
from typing import Any

import streamlit as st

from loadgen.run_folder import data_folder
from storage.exchange.export import export_run
from storage.exchange.removed import day_of
from ui.data import store
from ui.guard import guard

KINDS = {
    "zip": ("Zip", "The whole run: another Headway imports it, and DuckDB or pandas read it."),
    "requests.csv": ("Requests, CSV", "One line per request with its times, for a spreadsheet."),
    "json": ("JSON", "Every metric as `headway show --json` prints it, and the requests."),
}
LARGEST_DOWNLOAD_BYTES = 100 << 20
"""What a download may hold in the dashboard's memory; a larger file is told by its path."""


def export_popover(run: dict[str, Any], shown: dict[str, Any]) -> None:
    """The button with its choices.  run: a row of the store's `run`; shown: `show --json`."""
    with st.popover("Export", icon=":material/ios_share:"):
        kind = st.radio(
            "As",
            list(KINDS),
            format_func=lambda k: KINDS[k][0],
            captions=[caption for _, caption in KINDS.values()],
            key="export_as",
            label_visibility="collapsed",
        )
        if lost := removed(run, kind):
            st.caption(lost)
        path = data_folder().absolute() / "exports" / file_name(run, kind)
        if st.button("Make the file", key="export_make", icon=":material/build:"):
            with guard(), st.spinner("The store is writing …"):
                path.unlink(missing_ok=True)  # made here before
                path.parent.mkdir(exist_ok=True)
                export_run(store(data_folder()), run["run_uid"], kind, path, shown)
        if path.exists():
            _offer(path)


def removed(run: dict[str, Any], kind: str) -> str:
    """That the run's token events will be missing in the file because they were removed, or ""."""
    at_ns = run.get("raw_dropped_epoch_ns")
    if kind != "zip" or at_ns is None or not at_ns > 0:  # NaN is above nothing
        return ""
    return f"The run's token events were removed on {day_of(int(at_ns))}: none of them is in it."


def file_name(run: dict[str, Any], kind: str) -> str:
    """A name that is safe anywhere: letters and digits of the name, and the uid's beginning."""
    words = re.sub(r"[^a-zA-Z0-9]+", "-", str(run["name"])).strip("-")[:40] or "run"
    return f"{words}-{run['run_uid'][:8]}.{kind}"


def _offer(path: Path) -> None:
    n_bytes = path.stat().st_size
    if n_bytes <= LARGEST_DOWNLOAD_BYTES:
        st.download_button(
            f"Download, {n_bytes / 1e6:,.1f} MB",
            data=path.read_bytes,  # only on a click
            file_name=path.name,
            mime="application/octet-stream",
            type="primary",
            icon=":material/download:",
            on_click="ignore",
        )
    st.caption("It lies in the data folder:")
    st.code(str(path), language=None, wrap_lines=True)
