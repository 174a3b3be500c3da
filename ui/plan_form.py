"""From what was typed on the New run page to a plan and its problems in plain words, and back."""

from collections.abc import Mapping
from typing import Any, cast

from loadgen.plan import Plan, PlanError, Target, parse
from loadgen.plan_paths import missing_files
from loadgen.plan_tables import bad_tables
from simulator.profiles import PROFILES
from ui.form_places import Places, Problem
from ui.form_spread import Form, given
from ui.form_stages import stages_form, stages_raw
from ui.form_traffic import class_form, class_raw, slos_raw, workload_form, workload_raw
from ui.run_text import load_text

OWN_ENDPOINT, SIMULATOR = "My endpoint", "Simulator"


def plan_of(form: Form, environ: Mapping[str, str]) -> tuple[Plan | None, list[Problem]]:
    """The plan, or every mistake in it, each with the step where it is mended.

    environ: the variables that the run will see; a key's variable must be among them.  Files that
    the plan names are looked for.
    """
    stages, origins = stages_raw(form["stages"])
    names = [target["name"].strip() for target in form["targets"]]
    places = Places(origins, names)
    problems = _same_names(names)
    plan = None
    try:
        plan = parse(raw_plan(form) | {"stages": stages})
    except PlanError as error:
        problems += dict.fromkeys(map(places.problem, error.problems))
    if plan:
        problems += _unset_keys(plan, environ) + list(map(places.problem, bad_files(plan)))
    return (None if problems else plan), problems


def bad_files(plan: Plan) -> list[str]:
    """What the run would not find or could not read, a sentence each, as `headway run` says it."""
    return [*missing_files(plan), *bad_tables(plan)]


def raw_plan(form: Form) -> Form:
    """The plain values that loadgen.plan.parse takes."""
    raw: Form = {
        "name": form["name"].strip(),
        "target": given(form["target"]),
        "targets": {t["name"].strip(): _without(given(t), "name") for t in form["targets"]},
        "stages": stages_raw(form["stages"])[0],
        "slos": slos_raw(form["slos"]),
        **given({name: form[name] for name in ("seed", "workers", "connections")}),
        "limits": given(form["limits"]),
    }
    if form["classes"]:
        raw["classes"] = [class_raw(one) for one in form["classes"]]
    else:
        raw["workload"] = workload_raw(form["workload"])
    if form["machines"]:
        raw["machines"] = given(form["machines"])
    return raw


def form_of(plan: Plan) -> Form:
    """What has to be typed to get this plan; `only_in_file` tells what cannot be."""
    raw = plan.model_dump(mode="json")
    return {
        "name": raw["name"],
        "target": raw["target"],
        "targets": [{"name": name} | target for name, target in raw["targets"].items()],
        "workload": workload_form(raw["workload"]),
        "classes": [class_form(one) for one in raw["classes"]],
        "stages": stages_form(raw["stages"]),
        "slos": raw["slos"],
        "limits": raw["limits"],
        "machines": raw["machines"],
        **{name: raw[name] for name in ("seed", "workers", "connections")},
    }


def form_values(form: Form) -> Form:
    """Each widget of the page by its key -> what it shows.  form: of `form_of`, so complete."""
    values = _endpoint_values(form["target"]) | {"n_target": len(form["targets"])}
    for number, target in enumerate(form["targets"], 1):
        values |= _target_values(f"target{number}_", target)
    values |= _flat("limit_", form["limits"]) | _flat("machines_", form["machines"] or {})
    values["has_machines"] = form["machines"] is not None
    values |= {name: form[name] for name in ("seed", "workers", "connections")}
    return values | work_values(form)


def work_values(form: Form) -> Form:
    """The same of workload, classes, load and objectives alone: what a preset replaces.

    The first block of load has keys without a prefix, as it is alone on most pages.
    """
    values = _flat("", form["workload"])
    slos = form["slos"] or [{"metric": "ttft", "percentile": 95.0, "max_ms": None}]
    for name, parts in (("class", form["classes"]), ("slo", slos)):
        values[f"n_{name}"] = len(parts)
        for number, part in enumerate(parts, 1):
            values |= _flat(f"{name}{number}_", part)
    values["n_stage"] = len(form["stages"])
    for number, block in enumerate(form["stages"], 1):
        values |= _flat("" if number == 1 else f"stage{number}_", block)
    return values


def only_in_file(plan: Plan) -> list[str]:
    """The plan's fields that the page has no widget for, as the plan writes them; none: all fit."""
    try:
        again = parse(raw_plan(form_of(plan)))
    except PlanError as error:
        return error.problems
    return differing(plan.model_dump(mode="json"), again.model_dump(mode="json"))


def differing(one: Any, other: Any, path: str = "") -> list[str]:
    """Paths below which two trees of plain values differ: `stages[1].warmup_s`."""
    if isinstance(one, dict) and isinstance(other, dict):
        mine, theirs = cast("Form", one), cast("Form", other)
        dot = "." if path else ""
        pairs = [(f"{path}{dot}{k}", mine.get(k), theirs.get(k)) for k in mine | theirs]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        both = zip(cast("list[Any]", one), cast("list[Any]", other), strict=True)
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(both)]
    else:
        return [] if one == other else [path]
    return [found for where, a, b in pairs for found in differing(a, b, where)]


def suggested_name(form: Form) -> str:
    """What a run is called that nobody named: `small-gpu: 1–16 streams, 5 levels`."""
    stages, _ = stages_raw(form["stages"])
    model = (form["target"].get("model") or "").strip()
    return ": ".join(part for part in (model, load_text(stages)) if part)[:200] or "run"


def _same_names(names: list[str]) -> list[Problem]:
    """Further endpoints called alike: in a plan the later one would replace the earlier."""
    return [
        Problem(f"target{i + 1}", "Name", f"Name is {name!r}, as is that of another endpoint.")
        for i, name in enumerate(names)
        if name in names[:i]
    ]


def _unset_keys(plan: Plan, environ: Mapping[str, str]) -> list[Problem]:
    asked = [("endpoint", plan.target)]
    asked += [(f"target{i}", target) for i, target in enumerate(plan.targets.values(), 1)]
    told = "Key variable: {} is not set where this dashboard runs; export it, then restart it."
    return [
        Problem(step, "Key variable", told.format(target.api_key_env))
        for step, target in asked
        if target.api_key_env and not environ.get(target.api_key_env)
    ]


def _without(values: Form, name: str) -> Form:
    return {k: v for k, v in values.items() if k != name}


def _endpoint_values(target: Form) -> Form:
    """The simulator's profile alone, where the target is just that."""
    profile = target["url"].removeprefix("sim://")
    usual = Target(url=f"sim://{profile}", model=profile) if profile in PROFILES else None
    if usual and target == usual.model_dump(mode="json"):
        return {"endpoint": SIMULATOR, "profile": profile}
    return {"endpoint": OWN_ENDPOINT} | _target_values("", target)


def _target_values(prefix: str, target: Form) -> Form:
    values = _without(target, "prices") | {"key_env": target["api_key_env"]}
    prices: Form = target["prices"] or {}
    values |= {"has_prices": bool(target["prices"])} | prices
    return {f"{prefix}{name}": "" if v is None else v for name, v in values.items()}


def _flat(prefix: str, form: Form) -> Form:
    """Spreads and lists of objectives within it get keys of their own."""
    values: Form = {}
    for name, value in form.items():
        if isinstance(value, dict):
            spread = cast("Form", value)
            values |= {f"{prefix}{name}_{k}": v for k, v in spread.items() if k != "value"}
            values |= {f"{prefix}{name}": spread["value"]} if "value" in spread else {}
        elif isinstance(value, list):
            rows = cast("list[Form]", value)
            values[f"{prefix}n_slo"] = len(rows)
            for number, row in enumerate(rows, 1):
                values |= _flat(f"{prefix}slo{number}_", row)
        else:
            values[f"{prefix}{name}"] = value
    return values
