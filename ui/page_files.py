"""Where each page lies, as st.page_link and st.switch_page want it: relative to the router."""

RUNS = "../pages/runs.py"
NEW_RUN = "../pages/new_run.py"
LIVE = "../pages/live.py"
RUN = "../pages/run.py"
SQL = "../pages/sql.py"
