"""What requests ask for: lengths in sight, the rest below; for one kind of traffic or several."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.form_lists import grow_or_shrink, how_many
from ui.form_objectives import objective_rows
from ui.form_spread import LENGTHS, PAUSES, Form
from ui.form_widgets import Fields

ARRIVALS = {"poisson": "Poisson", "constant": "evenly spaced", "gamma": "gamma: in bursts"}
COUNT_BY = {
    "auto": "the best there is",
    "tokenizer": "the tokenizer",
    "server": "the server's usage",
    "words": "words, about",
}
FORMATS = {"auto": "by its content", "jsonl": "JSONL", "sharegpt": "ShareGPT", "csv": "CSV"}
ORDERS = {"as_is": "as in the file", "shuffled": "shuffled"}
OWN = {
    "share": "a share of the load",
    "closed": "its own streams",
    "open": "its own arrivals",
}


def workload_fields(fields: Fields, more: Callable[[Fields], Form] | None = None) -> Form:
    """One workload, as ui.form_traffic.workload_raw takes it.  more: what else stands below."""
    form: Form = {
        "in": fields.spread("in", "Prompt tokens", LENGTHS, 256),
        "out": fields.spread("out", "Output tokens", LENGTHS, 128),
    }
    with st.expander("Streaming, caching, shared prefixes, conversations, own prompts"):
        form |= _answer_fields(fields)
        form |= _prefix_fields(fields) | _talk_fields(fields) | _file_fields(fields)
        form |= more(fields) if more else {}
    return form


def _answer_fields(fields: Fields) -> Form:
    form: Form = {
        "unique": fields.toggle(
            "unique",
            "A different prompt each time",
            True,
            help="Off: every request begins alike, and a server with a prefix cache answers "
            "faster than it would to real users.",
        ),
        "stream": fields.toggle(
            "stream",
            "Stream the answers",
            True,
            help="Off: each answer comes in one piece. It has an end-to-end time, but no first "
            "token.",
        ),
        "ignore_eos": fields.toggle(
            "ignore_eos",
            "Answers of exactly the asked length",
            True,
            help="Where the server knows ignore_eos. Off: answers end where the model ends them.",
        ),
    }
    left, right = st.columns(2)
    with left:
        form["count_by"] = fields.select("count_by", "Prompt lengths counted by", COUNT_BY)
    with right:
        form["inputs"] = fields.whole(
            "inputs", "Inputs per request", 1, min_value=1, help="Embeddings only: texts at once."
        )
    form["extra_body"] = fields.text(
        "extra_body",
        "Further fields of each request's body, JSON",
        placeholder='{"temperature": 0.7}',
        bind=None,  # may hold what nobody wants in an address
    )
    return form


def _prefix_fields(fields: Fields) -> Form:
    form: Form = {
        "has_prefix": fields.toggle(
            "has_prefix",
            "Prompts share their first tokens",
            False,
            help="As a system prompt or documents do. A server with a prefix cache computes them "
            "once.",
        )
    }
    if form["has_prefix"]:
        tokens, share, groups = st.columns(3)
        with tokens:
            form["prefix_tokens"] = fields.whole("prefix_tokens", "Shared tokens", 1000, step=100)
        with share:
            form["prefix_share"] = fields.number(
                "prefix_share", "Share of the requests", 1.0, step=0.1, help="1: all of them."
            )
        with groups:
            form["prefix_groups"] = fields.whole("prefix_groups", "Different prefixes", 1)
    return form


def _talk_fields(fields: Fields) -> Form:
    form: Form = {
        "talks": fields.toggle(
            "talks",
            "Conversations of several turns",
            False,
            help="Each request carries all that was said before, as in a chat.",
        )
    }
    if form["talks"]:
        form["turns"] = fields.spread("turns", "Turns of a conversation", LENGTHS, 4)
        form["reading"] = fields.spread("reading", "Pause between turns, s", PAUSES, 5.0)
    return form


def _file_fields(fields: Fields) -> Form:
    form: Form = {"has_file": fields.toggle("has_file", "Prompts from a file", False)}
    if form["has_file"]:
        form["file_path"] = fields.text(
            "file_path", "File", placeholder="prompts.jsonl, on this machine"
        )
        left, right = st.columns(2)
        with left:
            form["file_format"] = fields.select("file_format", "Format", FORMATS)
            form["file_prompt_column"] = fields.text(
                "file_prompt_column", "Column of prompts", placeholder="found by its name"
            )
        with right:
            form["file_order"] = fields.select("file_order", "Order", ORDERS)
            form["file_output_column"] = fields.text(
                "file_output_column", "Column of output tokens", placeholder="none"
            )
    return form


def traffic_fields(
    fields: Fields, mark: Callable[[str, Any], None]
) -> tuple[Form | None, list[Form]]:
    """(the workload, no classes) of simple plans, or (None, the classes of traffic).

    mark: called with each class's step and container, where its problems will be shown.
    """
    n = how_many(fields, "class")
    if n == 0:
        workload = workload_fields(fields)
        _class_buttons(fields)
        return workload, []
    classes: list[Form] = []
    for number in range(1, n + 1):
        box = st.container(border=True, key=f"box_class{number}")
        mark(f"class{number}", box)
        with box:
            classes.append(_class_fields(fields.under(f"class{number}_"), number, fields))
    _class_buttons(fields)
    return None, classes


def _class_fields(fields: Fields, number: int, page: Fields) -> Form:
    targets = {"": "the endpoint above"}
    for i in range(1, how_many(page, "target") + 1):
        key = page.key(f"target{i}_name")
        name = str(st.session_state.get(key) or page.default(f"target{i}_name") or "")
        targets |= {name: name} if name else {}
    columns = st.columns(4 if len(targets) > 1 else 3)
    form: Form = {"target": ""}
    with columns[0]:
        form["name"] = fields.text("name", "Class of traffic", f"class-{number}")
    with columns[1]:
        form["own"] = fields.select("own", "Sends", OWN)
    with columns[2]:
        form |= _load_of_class(fields, form["own"])
    if len(targets) > 1:
        with columns[3]:
            form["target"] = fields.select("target", "To", targets)
    form |= workload_fields(fields, MORE_OF_CLASS[form["own"]])
    form["own_slos"] = fields.toggle("own_slos", "Objectives of its own", False)
    form["slos"] = objective_rows(fields) if form["own_slos"] else []
    return form


def _load_of_class(fields: Fields, own: str) -> Form:
    """The one number that says how much of it there is."""
    if own == "share":
        share = fields.number(
            "share", "Share", 1.0, help="Relative to the other classes' shares: 3 and 1 make 75 %."
        )
        return {"share": share}
    if own == "closed":
        streams = fields.whole(
            "own_streams", "Streams in flight", 4, help="Beside every level, as long as it lasts."
        )
        return {"own_streams": streams}
    rate = fields.number(
        "own_rate", "Per second", 1.0, step=0.5, help="Beside every level, as long as it lasts."
    )
    return {"own_rate": rate}


def _own_think(fields: Fields) -> Form:
    return {"own_think": fields.spread("own_think", "Think time, s", PAUSES, 0.0)}


def _own_arrivals(fields: Fields) -> Form:
    form: Form = {"own_burstiness": None}
    form["own_arrivals"] = fields.select("own_arrivals", "Arrivals", ARRIVALS)
    if form["own_arrivals"] == "gamma":
        form["own_burstiness"] = fields.number("own_burstiness", "Burstiness", 0.5, step=0.1)
    return form


def _nothing(fields: Fields) -> Form:
    del fields
    return {}


MORE_OF_CLASS = {"share": _nothing, "closed": _own_think, "open": _own_arrivals}


def _class_buttons(fields: Fields) -> None:
    one = how_many(fields, "class") == 0
    add = "Mix in another kind of traffic" if one else "Add a class"
    grow_or_shrink(fields, "class", (add, "Remove the last class"), before=_carried)


def _carried(now: int, n: int) -> int:
    """The only workload becomes the first of two classes, and back, with what was typed."""
    moves = {(0, 1): ("", "class1_"), (1, 0): ("class1_", "")}
    if (now, n) not in moves:
        return n
    old, new = moves[now, n]
    for key in [str(k) for k in st.session_state]:
        name = key.removeprefix(old)
        if key.startswith(old) and name.startswith(OF_A_WORKLOAD):
            st.session_state[new + name] = st.session_state[key]
    return 2 if n == 1 else n


OF_A_WORKLOAD = (
    "in", "out", "unique", "stream", "ignore_eos", "count_by", "extra_body", "has_prefix",
    "prefix_", "talks", "turns", "reading", "has_file", "file_",
)  # fmt: skip
"""How the names of a workload's widgets begin ("in" is also the beginning of "inputs")."""
