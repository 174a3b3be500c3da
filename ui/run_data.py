"""One run's records, numbers and chart frames, kept while what the store has of it is the same.

A run that has ended may be opened again by segments that come late: its state ends up the same, so
each cache is also keyed by how much the store holds, and by the windows that a reader moved.
"""

from typing import Any

import pandas as pd
import streamlit as st

from analysis import chart_frames
from analysis.reading import Reading, read
from analysis.show import show_of
from charts.registry import CHARTS
from ui.data import ask


def version_of(run: dict[str, Any]) -> str:
    """What changes whenever a run's numbers may have.

    run: a row of the store's `run`, with its moved `windows` as text (`windows_of`).
    """
    return f"{run['state']} {run['n_events']} {run['n_requests']} {run.get('windows', '')}"


def windows_of(uid: str) -> str:
    """The windows of a run that a reader moved, as text to be compared."""
    return ask("windows", run=uid).to_csv(index=False)


@st.cache_resource(max_entries=4, show_spinner="Reading the run …")
def reading_of(uid: str, version: str, is_whole: bool = False) -> Reading:
    """Everything the analysis asks the store for; shared between sessions, never changed.

    is_whole: of whole levels instead of their windows.
    """
    del version  # a part of the cache's key only
    return read(ask, uid, is_whole)


@st.cache_data(max_entries=50, show_spinner=False)
def shown_of(uid: str, version: str, is_whole: bool = False) -> dict[str, Any]:
    """The JSON of `headway show --json`, or of `--whole`."""
    return show_of(reading_of(uid, version, is_whole))


@st.cache_data(max_entries=50, max_size="128MB", show_spinner=False)
def chart_frame(uid: str, version: str, chart: str, is_whole: bool = False) -> pd.DataFrame:
    """The frame that CHARTS[chart] draws: of the levels' numbers, or of the records themselves."""
    made_by = CHARTS[chart].frame
    if made_by == "load_curve":
        return chart_frames.load_curve(shown_of(uid, version, is_whole)["levels"])
    if made_by == "generator_health":
        pulses = reading_of(uid, version, is_whole).pulses
        return chart_frames.generator_health(pulses, ask("doubt_per_s", run=uid))
    return getattr(chart_frames, made_by)(reading_of(uid, version, is_whole))
