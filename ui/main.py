"""The router: every page, deep links too, goes through here."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
PAGES = HERE.parent / "pages"
# Streamlit puts only this script's folder on the path, and pages import the project's packages.
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))

from ui.guard import guard  # noqa: E402  (needs the path above)

st.set_page_config(page_icon=str(HERE / "static" / "favicon.png"), layout="wide")
st.html(HERE / "style.css")
st.logo(str(HERE / "static" / "logo.svg"), size="medium")

page = st.navigation(
    [
        st.Page(
            PAGES / "runs.py",
            title="Runs",
            icon=":material/stacks:",
            url_path="runs",
            default=True,
        ),
        st.Page(
            PAGES / "endpoints.py",
            title="Endpoints",
            icon=":material/troubleshoot:",
            url_path="endpoints",
        ),
        st.Page(
            PAGES / "new_run.py",
            title="New run",
            icon=":material/play_circle:",
            url_path="new",
        ),
        st.Page(PAGES / "live.py", title="Live", icon=":material/monitoring:", url_path="live"),
        st.Page(PAGES / "sql.py", title="SQL", icon=":material/database:", url_path="sql"),
        st.Page(
            PAGES / "run.py",
            title="Run",
            icon=":material/analytics:",
            url_path="run",
            visibility="hidden",
        ),
    ],
    position="top",
)
with guard():
    page.run()
