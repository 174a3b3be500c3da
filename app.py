"""Entry of the dashboard: `streamlit run app.py` or `uvicorn app:app`.

An ASGI entry and not a plain script, because Streamlit would take the folder pages/ beside a plain
script for its own old-style pages and run one of them without the router on a first deep link.
"""

import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from loadgen.launch import reconcile
from loadgen.run_folder import data_folder
from ui.guard import show_unexpected

RECONCILE_EVERY_S = 2.0
log = logging.getLogger("headway")


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncGenerator[dict[str, Any]]:
    """Keeps runs and their processes in agreement while the dashboard is up."""
    over = threading.Event()
    thread = threading.Thread(target=_reconcile_until, args=(over,), daemon=True, name="reconcile")
    thread.start()
    yield {}
    over.set()


def _reconcile_until(over: threading.Event) -> None:
    while True:
        try:
            reconcile(data_folder())
        except Exception:
            # One damaged run folder must not leave all the others unattended for ever.
            log.exception("Reconciling runs failed; trying again in %.0f s.", RECONCILE_EVERY_S)
        if over.wait(RECONCILE_EVERY_S):
            return


async def healthz(_request: Request) -> JSONResponse:
    """For load balancers: the server answers.  It says nothing about runs."""
    return JSONResponse({"status": "ok"})


app = st.App(
    Path(__file__).parent / "ui" / "main.py",
    lifespan=lifespan,
    routes=[Route("/healthz", healthz)],
    on_script_error=show_unexpected,
)
