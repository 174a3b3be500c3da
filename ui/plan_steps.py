"""The four steps of the New run page, each read from its widgets into plan fields."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from loadgen.wire.registry import APIS
from simulator.profiles import PROFILES
from ui.presets import CUSTOM, WORKLOADS, api_title

LOOPS = {"closed": "Concurrency", "open": "Arrival rate"}


def endpoint_fields() -> dict[str, Any]:
    """The simulator, or a server with its API, model and the NAME of its key's variable."""
    where = st.segmented_control(
        "Endpoint",
        ["Simulator", "My endpoint"],
        default="Simulator",
        required=True,
        key="endpoint",
        bind="query-params",
        label_visibility="collapsed",
    )
    if where == "Simulator":
        name = st.selectbox(
            "Simulated server",
            list(PROFILES),
            index=list(PROFILES).index("small-gpu"),
            key="profile",
            bind="query-params",
        )
        st.caption(f"{PROFILES[name].summary} It runs here: no key, no network, no cost.")
        return {"url": f"sim://{name}", "model": name, "api": "openai_chat", "api_key_env": None}
    return _own_endpoint()


def _own_endpoint() -> dict[str, Any]:
    url = st.text_input(
        "URL",
        key="url",
        bind="query-params",
        placeholder="http://localhost:8000/v1",
        help="The root or …/v1, both work; a full API path is used as it is.",
    )
    left, right = st.columns(2)
    model = left.text_input("Model", key="model", bind="query-params", placeholder="llama-3.1-8b")
    api = right.selectbox(
        "API",
        list(APIS),
        key="api",
        bind="query-params",
        format_func=api_title,
    )
    key_env = st.text_input(
        "Key: name of the environment variable",
        key="key_env",
        placeholder="OPENAI_API_KEY – leave empty if the server asks for none",
        help="Headway reads the key from the environment of this dashboard when the run starts. "
        "The key itself is never typed here, stored or shown.",
    )
    return {"url": url, "model": model, "api": api, "api_key_env": key_env, **_more_fields()}


def _more_fields() -> dict[str, Any]:
    """What few endpoints need: their own certificates, a tokenizer for servers without usage."""
    with st.expander("Certificates and token counts"):
        verify = st.toggle(
            "Verify the server's certificate",
            value=True,
            key="verify_tls",
            bind="query-params",
            help="Off: anyone on the way could answer. Every page of the run will say so.",
        )
        ca_file = st.text_input(
            "CA file",
            key="ca_file",
            bind="query-params",
            placeholder="PEM file of your own authority, on this machine",
        )
        tokenizer = st.text_input(
            "Tokenizer",
            key="tokenizer",
            bind="query-params",
            placeholder="tokenizer.json or hub name – for servers that send no usage",
            help="Counts the tokens of each answer after the run, never while it goes on.",
        )
    return {"verify_tls": verify, "ca_file": ca_file, "tokenizer": tokenizer}


def workload_fields() -> dict[str, Any]:
    """How long each request's prompt and answer are."""
    kind = st.segmented_control(
        "Workload",
        [*WORKLOADS, CUSTOM],
        default="Chat",
        required=True,
        key="workload",
        bind="query-params",
        label_visibility="collapsed",
    )
    lengths = _lengths(kind)
    unique = st.toggle(
        "A different prompt each time",
        value=True,
        key="unique",
        bind="query-params",
        help="Off: every request begins alike, and a server with a prefix cache answers faster "
        "than it would to real users.",
    )
    stream = st.toggle(
        "Stream the answers",
        value=True,
        key="stream",
        bind="query-params",
        help="Off: each answer comes in one piece. It has an end-to-end time, but no first token.",
    )
    return {**lengths, "unique_prompts": unique, "stream": stream}


def _lengths(kind: str | None) -> dict[str, int]:
    if preset := WORKLOADS.get(kind or ""):
        st.caption(
            f"{preset.prompt_tokens:,} tokens in, {preset.output_tokens:,} out. {preset.why}"
        )
        return {"prompt_tokens": preset.prompt_tokens, "output_tokens": preset.output_tokens}
    left, right = st.columns(2)
    return {
        "prompt_tokens": left.number_input(
            "Prompt tokens", value=256, step=64, key="in", bind="query-params"
        ),
        "output_tokens": right.number_input(
            "Output tokens", value=128, step=32, key="out", bind="query-params"
        ),
    }


def load_fields() -> dict[str, Any]:
    """Closed loop at exact concurrency, or open loop at Poisson rates; where each level ends."""
    kind = st.segmented_control(
        "Load",
        list(LOOPS),
        default="closed",
        required=True,
        format_func=LOOPS.__getitem__,
        key="loop",
        bind="query-params",
        label_visibility="collapsed",
    )
    if kind == "closed":
        levels = st.text_input(
            "Streams in flight, one level each",
            value="1, 2, 4, 8, 16",
            key="levels",
            bind="query-params",
        )
        st.caption("Each level keeps exactly that many streams open: one ends, the next begins.")
    else:
        levels = st.text_input(
            "Requests per second, one level each", value="2, 5", key="rates", bind="query-params"
        )
        st.caption("Poisson arrivals that never wait for answers, as users do not.")
    left, right = st.columns(2)
    ends = left.segmented_control(
        "Each level ends after",
        ["seconds", "requests"],
        default="seconds",
        required=True,
        key="ends",
        bind="query-params",
    )
    default = 20.0 if ends == "seconds" else 100.0
    end_value = right.number_input(
        ends.capitalize(), value=default, step=10.0, format="%g", key=f"end_{ends}"
    )
    return {"kind": kind, "levels": levels, "ends": ends, "end_value": end_value}


def objective_fields() -> dict[str, Any]:
    """An optional limit on TTFT p95, by which the run will be judged."""
    limit = st.number_input(
        "TTFT p95 at most, ms",
        value=None,
        step=50.0,
        format="%g",
        key="slo",
        bind="query-params",
        placeholder="no objective",
        help="95 of 100 first tokens must come within this time. `headway run` of the same plan "
        "exits with 1 where it is missed.",
    )
    return {"ttft_p95_ms": limit}


STEPS: tuple[tuple[str, str, Callable[[], dict[str, Any]]], ...] = (
    ("endpoint", "1 · Endpoint", endpoint_fields),
    ("workload", "2 · Workload", workload_fields),
    ("load", "3 · Load", load_fields),
    ("objective", "4 · Objective", objective_fields),
)
"""Step as ui.plan_form names it, its heading, its fields."""
