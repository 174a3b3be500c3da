"""Entry of the dashboard: `streamlit run app.py` or `uvicorn app:app`.

An ASGI entry and not a plain script, because Streamlit would take the folder pages/ beside a plain
script for its own old-style pages and run one of them without the router on a first deep link.
"""

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from loadgen.run_folder import data_folder
from ui.guard import show_unexpected
from ui.upkeep import Upkeep


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncGenerator[dict[str, Any]]:
    """Looks after runs and store while the dashboard is up."""
    over = threading.Event()
    upkeep = Upkeep(data_folder())
    threading.Thread(target=upkeep.until, args=(over,), daemon=True, name="upkeep").start()
    yield {}
    over.set()


async def healthz(_request: Request) -> JSONResponse:
    """For load balancers: the server answers.  It says nothing about runs."""
    return JSONResponse({"status": "ok"})


app = st.App(
    Path(__file__).parent / "ui" / "main.py",
    lifespan=lifespan,
    routes=[Route("/healthz", healthz)],
    on_script_error=show_unexpected,
)
