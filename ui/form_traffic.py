"""Workloads, classes of traffic and objectives: from a form to plain values of a plan, and back."""

import json
from typing import Any

from ui.form_spread import Form, given, spread_form, spread_raw
from ui.form_text import object_of

PREFIX = ("tokens", "share", "groups")
FILE = ("path", "format", "prompt_column", "output_column", "order")


def workload_raw(form: Form) -> Form:
    """A plan's `workload`; what was left empty is left out."""
    raw: Form = {
        "prompt_tokens": spread_raw(form["in"]),
        "output_tokens": spread_raw(form["out"]),
        "unique_prompts": form["unique"],
        "stream": form["stream"],
        "ignore_eos": form["ignore_eos"],
        "inputs_per_request": form["inputs"],
        "count_by": form["count_by"],
        "extra_body": object_of(form["extra_body"]),
    }
    if form["has_prefix"]:
        raw["prefix"] = given({name: form[f"prefix_{name}"] for name in PREFIX})
    if form["has_file"]:
        raw["file"] = given({name: form[f"file_{name}"] for name in FILE})
    if form["talks"]:
        raw["conversation"] = given(
            {"turns": spread_raw(form["turns"]), "think_s": spread_raw(form["reading"])}
        )
    return {k: v for k, v in raw.items() if v is not None}


def workload_form(raw: Form) -> Form:
    """raw: a workload's `model_dump`."""
    body, prefix, file, talk = (raw[k] for k in ("extra_body", "prefix", "file", "conversation"))
    form: Form = {
        "in": spread_form(raw["prompt_tokens"]),
        "out": spread_form(raw["output_tokens"]),
        "unique": raw["unique_prompts"],
        "stream": raw["stream"],
        "ignore_eos": raw["ignore_eos"],
        "inputs": raw["inputs_per_request"],
        "count_by": raw["count_by"],
        "extra_body": json.dumps(body, ensure_ascii=False) if body else "",
        "has_prefix": prefix is not None,
        "has_file": file is not None,
        "talks": talk is not None,
    }
    form |= {f"prefix_{name}": value for name, value in (prefix or {}).items()}
    form |= {f"file_{name}": value or "" for name, value in (file or {}).items()}
    if talk:
        form |= {"turns": spread_form(talk["turns"]), "reading": spread_form(talk["think_s"])}
    return form


def class_raw(form: Form) -> Form:
    """One entry of a plan's `classes`."""
    raw = given({"name": form["name"], "target": form["target"]})
    raw["workload"] = workload_raw(form)
    if form["own"] == "share":
        raw |= given({"share": form["share"]})
    elif form["own"] == "closed":
        raw["load"] = _own_closed(form)
    else:
        raw["load"] = given({"rate_per_s": form["own_rate"], "arrivals": form["own_arrivals"]})
        if form["own_arrivals"] == "gamma":
            raw["load"] |= given({"burstiness": form["own_burstiness"]})
    if form["own_slos"]:
        raw["slos"] = slos_raw(form["slos"])
    return raw


def _own_closed(form: Form) -> Form:
    think = spread_raw(form["own_think"])
    return given({"concurrency": form["own_streams"], "think_s": think})


def class_form(raw: Form) -> Form:
    """raw: a class's `model_dump`."""
    load: Form = raw["load"] or {}
    form: Form = {
        "name": raw["name"],
        "target": raw["target"] or "",
        "share": raw["share"],
        "own": "open" if "rate_per_s" in load else "closed" if load else "share",
        "own_slos": raw["slos"] is not None,
        "slos": [dict(slo) for slo in raw["slos"] or ()],
    }
    if form["own"] == "closed":
        form |= {"own_streams": load["concurrency"], "own_think": spread_form(load["think_s"])}
    elif form["own"] == "open":
        form |= {f"own_{k}": load[k] for k in ("arrivals", "burstiness")}
        form["own_rate"] = load["rate_per_s"]
    return form | workload_form(raw["workload"])


def slos_raw(forms: list[Form]) -> list[Any]:
    """A plan's `slos`; a row without a limit is none."""
    return [given(form) for form in forms if form["max_ms"] is not None]
