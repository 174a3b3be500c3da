"""From the command line's words to a validated plan."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from commands.overrides import apply
from commands.refusal import plan_refusal
from loadgen.plan import Plan, PlanError, parse, place_of, read
from loadgen.plan_paths import missing_files
from loadgen.plan_tables import bad_tables

TARGET_OPTIONS = ("url", "api", "model", "api_key_env")
QUICK_CONCURRENCY = "1,4,16"
QUICK_SECONDS = 20.0


def plan_from_file(path: Path, options: dict[str, Any], sets: Sequence[str]) -> Plan:
    """The plan of `path` with options (None = not given) and `--set`s laid over it.

    All mistakes of file, options and sets leave together as one Refusal.
    """
    try:
        raw = read(path)
    except PlanError as error:
        raise plan_refusal("The plan", error) from None
    target = raw.setdefault("target", {})
    for name, value in options.items():
        if value is None:
            continue
        if name not in TARGET_OPTIONS:
            raw[name] = value
        elif isinstance(target, dict):
            target[name] = value
    return checked(raw, sets, str(path))


def quick_plan(url: str, options: dict[str, Any]) -> Plan:
    """The plan of `headway quick`; options as the command's own, None = not given."""
    given = {name: value for name, value in options.items() if value is not None}
    target = {name: given[name] for name in TARGET_OPTIONS if name in given} | {"url": url}
    raw: dict[str, Any] = {
        "name": given.get("name", f"quick {_host(url)}"),
        "target": target,
        "workload": {n: given[n] for n in ("prompt_tokens", "output_tokens") if n in given},
        "stages": _quick_stages(given),
    }
    if "workers" in given:
        raw["workers"] = given["workers"]
    return checked(raw, (), f"quick {url}")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or url
    except ValueError:  # the plan says what is wrong with it
        return url


def _quick_stages(given: dict[str, Any]) -> list[dict[str, Any]]:
    end = {name: given[name] for name in ("requests", "seconds") if name in given}
    end = end or {"seconds": QUICK_SECONDS}
    if "rate" in given:
        return [{"kind": "open", "rate_per_s": given["rate"], **end}]
    levels = given.get("concurrency", QUICK_CONCURRENCY).split(",")
    return [{"kind": "closed", "concurrency": _number(level.strip()), **end} for level in levels]


def _number(word: str) -> int | str:
    """What is no number stays a word, and the plan says so."""
    return int(word) if word.isdecimal() else word


def checked(raw: dict[str, Any], sets: Sequence[str], where: str) -> Plan:
    """The plan of `raw` with `sets` applied; where: whose mistakes they are, in the Refusal."""
    problems: list[str] = []
    for assignment in sets:
        try:
            apply(raw, assignment)
        except PlanError as error:
            problems += error.problems
    plan = None
    try:
        plan = parse(raw)
    except PlanError as error:
        problems += error.problems
    if plan is not None:
        problems += [*_missing_keys(plan), *missing_files(plan), *bad_tables(plan)]
    if plan is None or problems:
        raise plan_refusal(where, PlanError(problems))
    return plan


def _missing_keys(plan: Plan) -> list[str]:
    return [
        f"{place_of(name)}.api_key_env is {target.api_key_env!r}; that environment variable is "
        "not set, export it first."
        for name, target in plan.targets_used().items()
        if target.api_key_env is not None and not os.environ.get(target.api_key_env)
    ]
