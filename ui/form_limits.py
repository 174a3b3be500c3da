"""Where a run stops by itself, its seed, and who sends: what few plans change."""

import streamlit as st

from ui.form_spread import Form
from ui.form_widgets import Fields

RUN_LIMITS = (
    ("requests", "Requests of the run", "whole"),
    ("seconds", "Seconds of the run", "number"),
    ("tokens", "Tokens, in and out", "whole"),
    ("dollars", "US$, by the prices", "number"),
)
REQUEST_LIMITS = (
    ("request_s", "Seconds of a request", 600.0),
    ("silence_s", "Seconds of silence", 120.0),
    ("connect_s", "Seconds to connect", 10.0),
    ("drain_s", "Seconds to drain", 30.0),
)
WHEN_LOST = {"stop": "the run stops", "go_on": "the others go on"}
CONNECTIONS = {"warm": "kept open", "cold": "a new one for each request"}


def limit_fields(fields: Fields) -> Form:
    """Limits of the whole run and of each request; empty: none."""
    under, form = fields.under("limit_"), Form()
    st.markdown("**The run ends at**")
    for column, (name, title, kind) in zip(
        st.columns(4, vertical_alignment="bottom"), RUN_LIMITS, strict=True
    ):
        with column:
            read = under.whole if kind == "whole" else under.number
            form[name] = read(name, title, None, placeholder="no limit")
    st.markdown("**It is given up when failures are**")
    start, row, share = st.columns(3)
    with start:
        form["failed_at_start"] = under.whole("failed_at_start", "the first … alike", 3)
    with row:
        form["failed_in_a_row"] = under.whole("failed_in_a_row", "… in a row alike", 50)
    with share:
        form["failed_share"] = under.number(
            "failed_share", "this share", None, step=0.05, placeholder="no limit"
        )
    st.markdown("**A request is given up after**")
    for column, (name, title, usual) in zip(
        st.columns(4, vertical_alignment="bottom"), REQUEST_LIMITS, strict=True
    ):
        with column:
            form[name] = under.number(name, title, usual)
    form["max_in_flight"] = under.whole(
        "max_in_flight",
        "Most in flight",
        2_000,
        help="Arrivals beyond it are not sent, and counted as such.",
    )
    return form


def sender_fields(fields: Fields) -> Form:
    """Seed, load workers here and elsewhere, connections."""
    seed, workers, connections = st.columns(3)
    form = Form()
    with seed:
        form["seed"] = fields.whole("seed", "Seed", 1, help="The same seed, the same schedule.")
    with workers:
        form["workers"] = fields.whole("workers", "Load workers here", 1)
    with connections:
        form["connections"] = fields.select("connections", "Connections", CONNECTIONS)
    asked = fields.toggle(
        "has_machines",
        "Load workers on other machines",
        False,
        help="They join by `headway worker --master HOST:PORT`.",
    )
    form["machines"] = _machines(fields.under("machines_")) if asked else None
    return form


def _machines(fields: Fields) -> Form:
    left, middle, right = st.columns(3)
    with left:
        workers = fields.whole("workers", "How many", 1)
        wait_s = fields.number("wait_s", "Wait for them, s", 120.0)
    with middle:
        bind = fields.text("bind", "Listen at", "127.0.0.1")
        port = fields.whole("port", "Port", 5557)
    with right:
        secret = fields.text(
            "secret_env", "Secret: variable's name", bind=None, placeholder="HEADWAY_SECRET"
        )
        lost = fields.select("when_lost", "When one is lost", WHEN_LOST)
    return {
        "workers": workers,
        "bind": bind,
        "port": port,
        "secret_env": secret,
        "wait_s": wait_s,
        "when_lost": lost,
    }
