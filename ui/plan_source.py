"""The plan that the New run page begins with: a preset, an earlier run, an uploaded file."""

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from loadgen.plan import Plan, PlanError, parse
from ui.form_spread import Form
from ui.plan_form import form_of, form_values, only_in_file, work_values
from ui.presets import PRESETS, preset_plan


@dataclass(frozen=True, slots=True)
class Source:
    """Where the form's first values come from.

    key: another one means that the form is to be filled in anew.  values: widget key -> what it
    shows at first.  resets: those that replace what was typed, when the reader changes the source.
    """

    key: str
    title: str
    plan: Plan | None
    values: Form
    resets: Form
    problems: Sequence[str] = ()
    only_in_file: Sequence[str] = ()


def from_preset(name: str) -> Source:
    """A preset replaces workload, load and objectives; the endpoint stays as it is."""
    plan, preset = preset_plan(name), PRESETS[name]
    form = form_of(plan)
    blank = dict.fromkeys(preset.open, "")
    values = form_values(form) | blank | {"name": ""}
    return Source(f"preset:{name}", preset.title, plan, values, work_values(form) | blank)


def from_plan(title: str, raw: Any) -> Source:
    """The plan of a run, or of a file: all of it."""
    if isinstance(raw, dict) and "imported" in raw:
        return broken(title, ["It was imported: another tool's file has no plan to run again."])
    digest = hashlib.sha256(repr(raw).encode()).hexdigest()[:12]
    try:
        plan = parse(raw)
    except PlanError as error:
        return broken(title, error.problems)
    values = form_values(form_of(plan)) | {"name": plan.name}
    return Source(f"plan:{digest}", title, plan, values, values, only_in_file=only_in_file(plan))


def broken(title: str, problems: Sequence[str]) -> Source:
    """A file or a run that gives no plan; the form below begins with the first preset."""
    first = from_preset(next(iter(PRESETS)))
    return Source(f"broken:{title}", title, None, first.values, {}, problems)


def from_file(name: str, content: bytes) -> Source:
    """An uploaded plan.toml or plan.json."""
    try:
        text = content.decode("utf-8")
        raw: Any = json.loads(text) if name.lower().endswith(".json") else tomllib.loads(text)
    except ValueError as error:  # not UTF-8, not JSON, not TOML
        return broken(name, [f"{name} cannot be read as a plan: {error}."])
    if not isinstance(raw, dict):
        return broken(name, [f"{name} holds a {type(raw).__name__}; a plan is an object."])
    return from_plan(name, cast("Form", raw))
