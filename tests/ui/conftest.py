"""Pages under AppTest, each test on a data folder of its own."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.run_headway import end_store

ROUTER = Path(__file__).parents[2] / "ui" / "main.py"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The data folder of the pages; its store process, if one was started, ends with the test."""
    folder = tmp_path / "data"
    monkeypatch.setenv("HEADWAY_DATA", str(folder))
    yield folder
    forget(folder)


def forget(data: Path) -> None:
    """Ends the store of a data folder and what pages keep of it."""
    st.cache_resource.clear()
    st.cache_data.clear()
    end_store(data)


def open_page(page: str, **query: str) -> AppTest:
    """The page after its first run; there is never an exception on it."""
    app = AppTest.from_file(ROUTER, default_timeout=60).run()  # registers the pages
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def opened(page: str, unwanted: tuple[str, ...] = (), **query: str) -> AppTest:
    """The same once the store has taken the runs in, which takes it a moment."""
    unwanted = (*unwanted, "Reading the")
    for _ in range(100):
        app = open_page(page, **query)
        if not any(word in words_of(app) for word in unwanted):
            return app
    raise AssertionError(words_of(app))


def words_of(app: AppTest) -> str:
    """Everything a reader can read on the page, but tables."""
    parts = [*app.title, *app.markdown, *app.text, *app.caption, *app.code]
    return "\n".join(str(part.value) for part in parts)
