"""Command line options and `--set` on top of a plan's plain values, before they are validated."""

import re
import tomllib
from itertools import pairwise
from typing import Any, cast

from loadgen.plan import PlanError

STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")


def apply(raw: dict[str, Any], assignment: str) -> None:
    """Sets one `KEY=VALUE` in `raw`, such as `stages[0].concurrency=4`.

    VALUE is TOML; what is no TOML value (`target.model=llama-3`) counts as a string.  Tables
    missing on the way are made, list items are not.  Raises PlanError.
    """
    key, equals, value = assignment.partition("=")
    if not equals:
        raise PlanError([f"--set {assignment!r} has no '='; write KEY=VALUE."])
    path = _path(key.strip())
    parent = _descend(raw, path)
    _must_take(parent, path[-1], key.strip())
    parent[path[-1]] = _toml_value(value.strip(), assignment)


def _path(key: str) -> list[str | int]:
    path: list[str | int] = []
    for part in key.split("."):
        found = list(STEP.finditer(part))
        whole = "".join(m.group() for m in found) == part
        if not found or not whole or found[0].group(1) is None:
            raise PlanError(
                [f"--set {key}: is no key; write one like limits.request_s or stages[0].seconds."]
            )
        path += [int(m.group(2)) if m.group(2) else m.group(1) for m in found]
    return path


def _descend(raw: dict[str, Any], path: list[str | int]) -> Any:
    here: Any = raw
    shown = ""
    for step, then in pairwise(path):
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else step
        _must_take(here, step, shown)
        if isinstance(then, int) and isinstance(step, str) and step not in here:
            _must_take([], then, f"{shown}[{then}]")
        here = here.setdefault(step, {}) if isinstance(step, str) else here[step]
    return here


def _must_take(here: Any, step: str | int, shown: str) -> None:
    """Raises PlanError unless `here[step]` may be set."""
    if isinstance(step, str):
        if not isinstance(here, dict):
            raise PlanError([f"--set {shown}: has no fields in this plan."])
        return
    if not isinstance(here, list):
        raise PlanError([f"--set {shown}: is not a list in this plan."])
    n_items = len(cast("list[Any]", here))
    if step >= n_items:
        raise PlanError([f"--set {shown}: does not exist; the plan has {n_items} of them."])


def _toml_value(text: str, assignment: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if not text or text[0] in "\"'[{":
            raise PlanError([f"--set {assignment!r}: the value is not TOML."]) from None
        return text
