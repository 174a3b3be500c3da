"""How much load, and how it changes: one block of fields for each part of the run."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.form_lists import grow_or_shrink, how_many
from ui.form_shape import shape_fields
from ui.form_spread import PAUSES, Form
from ui.form_widgets import Fields
from ui.form_workload import ARRIVALS

KINDS = {
    "closed": "Concurrency",
    "open": "Arrival rate",
    "shape": "Changing load",
    "sweep": "Sweep",
    "search": "Search",
    "replay": "Trace",
    "idle": "Pause",
}
OVER = {"concurrency": "streams in flight", "rate_per_s": "requests per second"}
TRACES = {
    "auto": "by its content",
    "azure": "Azure 2023",
    "mooncake": "Mooncake",
    "burstgpt": "BurstGPT",
    "csv": "own CSV",
    "jsonl": "own JSONL",
}
GRIDS = {"verbatim": "as in the trace", "spread": "spread over its steps"}

TEMPLATE_ARRIVALS = {name: ARRIVALS[name] for name in ("poisson", "constant")}


def load_fields(fields: Fields, mark: Callable[[str, Any], None]) -> list[Form]:
    """Step 3: the blocks, as ui.form_stages.stages_raw takes them.

    mark: called with each block's step and container, where its problems will be shown.
    """
    n = how_many(fields, "stage", 1)
    blocks: list[Form] = []
    for number in range(1, n + 1):
        one = fields.under("" if number == 1 else f"stage{number}_")
        box = st.container(border=n > 1, key=f"box_stage{number}")
        mark(f"stage{number}", box)
        with box:
            blocks.append(block_fields(one))
    grow_or_shrink(fields, "stage", ("Then another load", "Remove the last load"), least=1)
    return blocks


def block_fields(fields: Fields) -> Form:
    """One block: what kind of load, and that kind's fields."""
    load = fields.segments("load", "Load", KINDS, label_visibility="collapsed")
    return {"load": load} | READ[load](fields)


def _closed(fields: Fields) -> Form:
    levels = fields.text("levels", "Streams in flight, one level each", "1, 2, 4, 8, 16")
    st.caption("Each level keeps exactly that many streams open: one ends, the next begins.")
    form = {"levels": levels} | _end(fields)
    with _more("Think time, warm-up"):
        return form | {"think": think(fields)} | _warmup(fields)


def _open(fields: Fields) -> Form:
    rates = fields.text("rates", "Requests per second, one level each", "2, 5")
    st.caption("Arrivals that never wait for answers, as users do not.")
    form = {"rates": rates} | _end(fields)
    with _more("Arrivals, warm-up"):
        return form | arrivals(fields) | _warmup(fields)


def _shape(fields: Fields) -> Form:
    over = fields.segments("over", "What changes", OVER)
    form: Form = {"over": over, "think": {"kind": "fixed", "value": 0}, "arrivals": "poisson"}
    form |= shape_fields(fields)
    form["shape_seconds"] = fields.number("shape_seconds", "Seconds in all", 120.0, step=10)
    with _more("Arrivals, warm-up" if over == "rate_per_s" else "Think time, warm-up"):
        form |= arrivals(fields) if over == "rate_per_s" else {"think": think(fields)}
        form |= _warmup(fields)
        form["requests"] = fields.whole("requests", "Requests at most", None)
    return form


def _sweep(fields: Fields) -> Form:
    over = fields.segments("over", "Over", OVER)
    titles = {"doubling": "doubled until throughput stops growing", "list": "as listed"}
    form: Form = {"over": over, "by": fields.segments("by", "Levels", titles)}
    if form["by"] == "list":
        form["list"] = fields.text("list", "Levels", "1, 2, 4, 8, 16")
    else:
        start, most, gain = st.columns(3)
        with start:
            form["start"] = fields.number("start", "From", 1.0)
        with most:
            form["most"] = fields.number("most", "To at most", 256.0)
        with gain:
            form["least_gain"] = fields.number(
                "least_gain", "Least gain", 0.05, step=0.01, help="0.05: a level must bring 5 %."
            )
    form |= _end(fields)
    with _more("Arrivals, warm-up"):
        return form | {"arrivals": _process(fields, TEMPLATE_ARRIVALS)} | _warmup(fields)


def _search(fields: Fields) -> Form:
    form: Form = {"over": fields.segments("over", "Largest", OVER)}
    low, high = st.columns(2)
    with low:
        form["low"] = fields.number("low", "From", 1.0)
    with high:
        form["high"] = fields.number("high", "To", 256.0)
    st.caption(
        "Finds the largest load at which the objectives of step 4 hold: doubled until one is "
        "missed, then halved in between. Each probe is kept as a level."
    )
    seconds, requests = st.columns(2)
    with seconds:
        form["probe_seconds"] = fields.number("probe_seconds", "Seconds of a probe, at most", 60.0)
    with requests:
        form["most_requests"] = fields.whole("most_requests", "Requests of a probe, at most", 2000)
    with _more("How exactly, arrivals, warm-up"):
        left, right = st.columns(2)
        with left:
            form["tolerance"] = fields.number(
                "tolerance", "Tolerance of the answer", 0.1, step=0.01
            )
        with right:
            form["confidence"] = fields.number("confidence", "Confidence", 0.95, step=0.01)
        return form | {"arrivals": _process(fields, TEMPLATE_ARRIVALS)} | _warmup(fields)


def _replay(fields: Fields) -> Form:
    form: Form = {
        "file": fields.text("file", "Trace file", placeholder="trace.csv, on this machine")
    }
    st.caption(
        "When requests are sent, and how long they are, is the trace's; the rest is step 2's."
    )
    left, right = st.columns(2)
    with left:
        form["format"] = fields.select("format", "Format", TRACES)
        form["speed"] = fields.number("speed", "Speed", 1.0, help="2: twice as fast.")
    with right:
        form["grid"] = fields.select(
            "grid", "Times", GRIDS, help="Some traces round times to steps of seconds."
        )
        form["scale"] = fields.number(
            "scale", "Scale", 1.0, step=0.1, help="0.5: every other request; 2: each one twice."
        )
    with _more("Window, end, warm-up"):
        left, right = st.columns(2)
        with left:
            form["from_s"] = fields.number("from_s", "From second of the trace", 0.0)
            form["replay_seconds"] = fields.number("replay_seconds", "Seconds at most", None)
        with right:
            form["to_s"] = fields.number("to_s", "To second of the trace", None)
            form["requests"] = fields.whole("requests", "Requests at most", None)
        return form | _warmup(fields)


def _idle(fields: Fields) -> Form:
    seconds = fields.number("idle_seconds", "Seconds", 10.0)
    st.caption("No load, but for classes that bring their own.")
    return {"idle_seconds": seconds}


READ: dict[str, Callable[[Fields], Form]] = {
    "closed": _closed,
    "open": _open,
    "shape": _shape,
    "sweep": _sweep,
    "search": _search,
    "replay": _replay,
    "idle": _idle,
}
"""What a block's load may be -> its widgets."""


def think(fields: Fields) -> Form:
    """A user's pause between an answer and the next request."""
    return fields.spread("think", "Think time, s", PAUSES, 0.0)


def arrivals(fields: Fields) -> Form:
    """How arrivals come about; in bursts by how much."""
    form: Form = {"arrivals": _process(fields, ARRIVALS), "burstiness": None}
    if form["arrivals"] == "gamma":
        form["burstiness"] = fields.number(
            "burstiness", "Burstiness", 0.5, step=0.1, help="Gamma's shape; below 1: in bursts."
        )
    return form


def _process(fields: Fields, offered: dict[str, str]) -> str:
    return fields.select("arrivals", "Arrivals", offered)


def _end(fields: Fields) -> Form:
    seconds, requests = st.columns(2)
    with seconds:
        s = fields.number("seconds", "Seconds", 20.0, step=5, help="Of each level.")
    with requests:
        n = fields.whole(
            "requests",
            "Requests",
            None,
            step=10,
            help="Of each level.",
            placeholder="or after so many",
        )
    return {"seconds": s, "requests": n}


def _warmup(fields: Fields) -> Form:
    warmup_s = fields.number(
        "warmup_s", "Warm-up, s", 0.0, help="The first seconds of each level, which do not count."
    )
    return {"warmup_s": warmup_s}


def _more(title: str) -> Any:
    return st.expander(title)
