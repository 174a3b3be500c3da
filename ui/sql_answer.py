"""The answer to a reader's SQL: asked of the store, kept for the session's reruns, as a frame."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from loadgen.run_folder import data_folder
from storage.client import StoreError
from storage.protocol import CUT, TOOK_MS
from ui.data import store
from ui.plain import counted


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """Rows, or the sentence that says why there are none."""

    frame: pd.DataFrame
    took_ms: float = 0.0
    cut: str = ""  # why rows are missing; empty if none is
    refused: str = ""


@st.cache_data(ttl=30, max_entries=8, max_size="128MB", show_spinner="The store is reading …")
def answer(text: str, turn: int) -> SqlAnswer:
    """What the store answers, for half a minute.  turn: counts presses of Run: each asks anew."""
    del turn  # a part of the cache's key only
    try:
        table = store(data_folder()).ask_arrow("sql", text=text)
    except StoreError as error:
        return SqlAnswer(pd.DataFrame(), refused=str(error))
    told: dict[bytes, bytes] = table.schema.metadata or {}
    took_ms, cut = float(told.get(TOOK_MS, b"0")), told.get(CUT, b"").decode()
    return SqlAnswer(shown(table.to_pandas()), took_ms, cut)


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with what no table widget knows (structs, bytes, maps) as text; lists stay."""
    for name in frame.columns:
        if frame[name].dtype == object:
            frame[name] = [_cell(value) for value in frame[name]]
    return frame


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value.tolist() if hasattr(value, "tolist") else value)


def headline(found: SqlAnswer) -> str:
    """`1,200 rows × 4 columns · 12 ms`."""
    rows, columns = found.frame.shape
    return f"{counted(rows, 'row')} × {counted(columns, 'column')} · {found.took_ms:,.0f} ms"
