"""The pages' one connection to the store, and what is kept of its answers."""

from typing import Any

import pandas as pd
import streamlit as st

from loadgen.run_folder import data_folder
from storage.client import Store


@st.cache_resource(show_spinner="Opening the data folder …")
def store() -> Store:
    """Shared by all sessions; starts the store's process if it is not running."""
    return Store.connect(data_folder())


def ask(name: str, **args: Any) -> pd.DataFrame:
    """The frame of a named query (storage/queries_*.py), asked anew."""
    return store().ask(name, **args)


@st.cache_data(max_entries=200, max_size="256MB", show_spinner=False)
def ask_ended(name: str, state: str, **args: Any) -> pd.DataFrame:
    """The same for a run that has ended: its answers do not change while its state does not."""
    del state  # a part of the cache's key only
    return ask(name, **args)
