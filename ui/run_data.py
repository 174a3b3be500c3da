"""One run's records, numbers and chart frames, kept while the run's state does not change."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis import chart_frames
from analysis.reading import Reading, read
from analysis.show import show_of
from charts.registry import CHARTS
from ui.data import ask


@st.cache_resource(max_entries=4, show_spinner="Reading the run …")
def reading_of(uid: str, state: str) -> Reading:
    """Everything the analysis asks the store for; shared between sessions, never changed."""
    del state  # a part of the cache's key only
    return read(ask, uid)


@st.cache_data(max_entries=50, show_spinner=False)
def shown_of(uid: str, state: str) -> dict[str, Any]:
    """The JSON of `headway show --json`."""
    return show_of(reading_of(uid, state))


@st.cache_data(max_entries=50, max_size="128MB", show_spinner=False)
def chart_frame(uid: str, state: str, chart: str) -> pd.DataFrame:
    """The frame that CHARTS[chart] draws: of the levels' numbers, or of the records themselves."""
    made_by = CHARTS[chart].frame
    if made_by == "load_curve":
        return chart_frames.load_curve(shown_of(uid, state)["levels"])
    return getattr(chart_frames, made_by)(reading_of(uid, state))
