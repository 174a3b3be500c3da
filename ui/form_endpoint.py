"""The endpoints of the form: the simulator or a server, what it costs, and servers beside it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from loadgen.wire.registry import APIS
from simulator.profiles import PROFILES
from ui.form_lists import grow_or_shrink, how_many
from ui.form_spread import Form, given
from ui.form_widgets import Fields
from ui.plan_form import OWN_ENDPOINT, SIMULATOR
from ui.presets import api_title

WHERE = {SIMULATOR: SIMULATOR, OWN_ENDPOINT: OWN_ENDPOINT}
HTTP = {"auto": "as negotiated", "1.1": "HTTP/1.1", "2": "HTTP/2"}
FIRST_PROFILE = "small-gpu"


def endpoint_fields(fields: Fields | None = None) -> Form:
    """The simulator, or a server with its API, model and the NAME of its key's variable.

    Returns fields of a plan's target.
    """
    fields = fields or Fields({})
    where = fields.segments("endpoint", "Endpoint", WHERE, label_visibility="collapsed")
    if where == SIMULATOR:
        names = {FIRST_PROFILE: FIRST_PROFILE} | {name: name for name in PROFILES}
        name = fields.select("profile", "Simulated server", names)
        st.caption(f"{PROFILES[name].summary} It runs here: no key, no network, no cost.")
        return {"url": f"sim://{name}", "model": name, "api": "openai_chat", "api_key_env": None}
    return _server(fields) | _more_fields(fields)


def price_fields(fields: Fields) -> Form:
    """What tokens cost, for the estimate and for a limit in dollars."""
    left, right = st.columns(2)
    with left:
        price_in = fields.number(
            "usd_per_m_input", "US$ per million tokens in", None, step=0.1, placeholder="unknown"
        )
    with right:
        price_out = fields.number(
            "usd_per_m_output", "US$ per million tokens out", None, step=0.1, placeholder="unknown"
        )
    prices = given({"usd_per_m_input": price_in, "usd_per_m_output": price_out})
    return {"prices": prices or None}


def further_endpoints(fields: Fields, mark: Callable[[str, Any], None]) -> list[Form]:
    """Servers that classes of traffic may go to instead; each with a name.

    mark: called with each one's step and container, where its problems will be shown.
    """
    found: list[Form] = []
    for number in range(1, how_many(fields, "target") + 1):
        one = fields.under(f"target{number}_")
        box = st.container(border=True, key=f"box_target{number}")
        mark(f"target{number}", box)
        with box:
            name = one.text("name", "Name", f"second-{number}" if number > 1 else "second")
            found.append({"name": name, **_server(one), **_more_fields(one), **price_fields(one)})
    grow_or_shrink(fields, "target", ("Add an endpoint", "Remove the last endpoint"))
    return found


def _server(fields: Fields) -> Form:
    url = fields.text(
        "url",
        "URL",
        placeholder="http://localhost:8000/v1",
        help="The root or …/v1, both work; a full API path is used as it is.",
    )
    left, right = st.columns(2)
    with left:
        model = fields.text("model", "Model", placeholder="llama-3.1-8b")
    with right:
        api = fields.select("api", "API", {name: api_title(name) for name in APIS})
    key_env = fields.text(
        "key_env",
        "Key: name of the environment variable",
        bind=None,  # a key pasted here by mistake must not get into the address and the history
        placeholder="OPENAI_API_KEY – leave empty if the server asks for none",
        help="Headway reads the key from the environment of this dashboard when the run starts. "
        "The key itself is never typed here, stored or shown.",
    )
    return {"url": url, "model": model, "api": api, "api_key_env": key_env}


def _more_fields(fields: Fields) -> dict[str, Any]:
    """What few endpoints need: their own certificates, a tokenizer for servers without usage."""
    with st.expander("Certificates and token counts"):
        verify = fields.toggle(
            "verify_tls",
            "Verify the server's certificate",
            True,
            help="Off: anyone on the way could answer. Every page of the run will say so.",
        )
        ca_file = fields.text(
            "ca_file", "CA file", placeholder="PEM file of your own authority, on this machine"
        )
        tokenizer = fields.text(
            "tokenizer",
            "Tokenizer",
            placeholder="tokenizer.json or hub name – for servers that send no usage",
            help="Makes prompts of exact length, and counts answers of servers that do not.",
        )
        http = fields.select("http", "HTTP version", HTTP)
    return {"verify_tls": verify, "ca_file": ca_file, "tokenizer": tokenizer, "http": http}
