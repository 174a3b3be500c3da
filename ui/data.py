"""The pages' one connection to the store."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from loadgen.run_folder import data_folder, runs_folder
from storage.client import Store


@st.cache_resource(show_spinner="Opening the data folder …")
def store(data: Path) -> Store:
    """Shared by all sessions; starts the store's process if it is not running."""
    return Store.connect(data)


def ask(name: str, /, **args: Any) -> pd.DataFrame:
    """The frame of a named query (storage/queries_*.py), asked anew."""
    return store(data_folder()).ask(name, **args)


def has_run_folders() -> bool:
    """Whether any run was ever started here, also if the store has not taken it in yet."""
    return any(runs_folder(data_folder()).glob("*/plan.json"))
