"""From the fields of the New run page to a plan, its estimate and its problems in plain words."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loadgen.plan import Plan, PlanError, parse
from ui.run_text import load_text

TOKENS_PER_S = 50.0  # assumed for one stream where nothing was measured yet; said wherever used
FIRST_TOKEN_S = 0.3

# Where a plan's field is typed on the page, and what the page calls it.
FIELDS: tuple[tuple[str, str, str], ...] = (
    (r"^target\.url", "endpoint", "URL"),
    (r"^target\.model", "endpoint", "Model"),
    (r"^target\.api_key_env", "endpoint", "Key variable"),
    (r"^target\.ca_file", "endpoint", "CA file"),
    (r"^target\.tokenizer", "endpoint", "Tokenizer"),
    (r"^target\.\w+", "endpoint", "Endpoint"),
    (r"^workload\.prompt_tokens", "workload", "Prompt tokens"),
    (r"^workload\.output_tokens", "workload", "Output tokens"),
    (r"^workload\.\w+", "workload", "Workload"),
    (r"^stages\[\d+\]\.(?:seconds|requests)", "load", "End of each level"),
    (r"^stages\[(\d+)\]\.\w+", "load", "Level {0}"),
    (r"^stages\[(\d+)\]", "load", "Level {0}"),
    (r"^stages", "load", "Levels"),
    (r"^slos\[\d+\]\.\w+", "objective", "Objective"),
    (r"^name", "endpoint", "Name"),
)


@dataclass(frozen=True, slots=True)
class PlanFields:
    """What the page's widgets hold; `levels` is the text as typed."""

    name: str
    url: str
    model: str
    api: str
    api_key_env: str | None
    prompt_tokens: int | None
    output_tokens: int | None
    unique_prompts: bool
    kind: Literal["closed", "open"]
    levels: str
    ends: Literal["seconds", "requests"]
    end_value: float | None
    ttft_p95_ms: float | None
    verify_tls: bool = True
    ca_file: str | None = None
    tokenizer: str | None = None
    stream: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the step of the form, its field, what to change; the text names the field."""

    step: str
    field: str
    text: str
    missing: bool = False  # nothing typed yet: no mistake so far


def plan_of(fields: PlanFields, environ: Mapping[str, str]) -> tuple[Plan | None, list[Problem]]:
    """The plan, or every mistake in it, each with the step where it is mended.

    environ: the variables that the run will see; a key's variable must be among them.
    """
    levels, problems = levels_of(fields.levels)
    empty = {p.field: p for p in _missing(fields)}
    plan = None
    try:
        plan = parse(raw_plan(fields, levels or [1.0]))
    except PlanError as error:
        told = dict.fromkeys(plain_problem(text) for text in error.problems)
        problems += [p for p in told if p.field not in empty]
    problems = [*empty.values(), *problems]
    if plan:
        problems += _unset_key(plan, environ)
    return (None if problems else plan), problems


def raw_plan(fields: PlanFields, levels: list[float]) -> dict[str, Any]:
    """The plain values that loadgen.plan.parse takes."""
    # Where no end was typed, plan_of says so; 1 s keeps the plan from saying it once per level.
    end = (
        {fields.ends: _whole(fields.end_value)} if fields.end_value is not None else {"seconds": 1}
    )
    slo = {"metric": "ttft", "percentile": 95, "max_ms": fields.ttft_p95_ms}
    return {
        "name": fields.name.strip(),
        "target": {
            "url": fields.url.strip(),
            "model": fields.model.strip(),
            "api": fields.api,
            "api_key_env": (fields.api_key_env or "").strip() or None,
            "verify_tls": fields.verify_tls,
            "ca_file": (fields.ca_file or "").strip() or None,
            "tokenizer": (fields.tokenizer or "").strip() or None,
        },
        "workload": {
            "prompt_tokens": fields.prompt_tokens,
            "output_tokens": fields.output_tokens,
            "unique_prompts": fields.unique_prompts,
            "stream": fields.stream,
        },
        "stages": [_stage(fields.kind, level) | end for level in levels],
        "slos": [slo] if fields.ttft_p95_ms is not None else [],
    }


def suggested_name(model: str, kind: str, levels: str) -> str:
    """What a run is called that nobody named: `small-gpu: 1–16 streams, 5 levels`."""
    stages = [_stage(kind, level) for level in levels_of(levels)[0]]
    return ": ".join(part for part in (model.strip(), load_text(stages)) if part) or "run"


def levels_of(text: str) -> tuple[list[float], list[Problem]]:
    """Numbers between commas or spaces; what is none is named, never dropped."""
    levels: list[float] = []
    problems: list[Problem] = []
    for word in re.split(r"[,;\s]+", text.strip()):
        if not word:
            continue
        try:
            level = float(word)
        except ValueError:
            level = math.nan
        if math.isfinite(level):
            levels.append(level)
        else:
            problems.append(Problem("load", "Levels", f"Levels: {word!r} is not a number."))
    if not levels and not problems:
        told = "Levels: write at least one, such as 1, 2, 4, 8."
        problems.append(Problem("load", "Levels", told, missing=True))
    return levels, problems


def _missing(fields: PlanFields) -> list[Problem]:
    asked = (
        ("endpoint", "URL", fields.url, "where the server listens, http://localhost:8000/v1."),
        ("endpoint", "Model", fields.model, "its name as the server lists it."),
        ("workload", "Prompt tokens", fields.prompt_tokens, "a whole number from 1."),
        ("workload", "Output tokens", fields.output_tokens, "a whole number from 1."),
        ("load", "End of each level", fields.end_value, "a number of seconds or requests."),
    )
    return [
        Problem(step, name, f"{name}: {hint}", missing=True)
        for step, name, value, hint in asked
        if value is None or (isinstance(value, str) and not value.strip())
    ]


def _unset_key(plan: Plan, environ: Mapping[str, str]) -> list[Problem]:
    name = plan.target.api_key_env
    if name is None or environ.get(name):
        return []
    told = f"Key variable: {name} is not set where this dashboard runs; export it, then restart it."
    return [Problem("endpoint", "Key variable", told)]


def plain_problem(text: str) -> Problem:
    """A plan's sentence with its field named as on the page."""
    for pattern, step, shown in FIELDS:
        if found := re.match(pattern, text):
            groups = [str(int(g) + 1) for g in found.groups()]
            field = shown.format(*groups)
            told = text[found.end() :].replace("; input should be", "; it must be")
            return Problem(step, field, f"{field}{told}")
    return Problem("load", "", text)


def _stage(kind: str, level: float) -> dict[str, Any]:
    if kind == "open":
        return {"kind": "open", "rate_per_s": level}
    return {"kind": "closed", "concurrency": _whole(level)}


def _whole(value: float) -> float:
    """An int where it is one: files then say 16 and not 16.0."""
    return int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan will cost; `assumed` says if a stream's speed had to be guessed for it."""

    seconds: list[float]  # for each stage
    requests: float
    input_tokens: float
    output_tokens: float
    assumed: bool

    @property
    def total_s(self) -> float:
        """All stages one after another, without the time their last streams take to end."""
        return sum(self.seconds)


def estimate(plan: Plan) -> Estimate:
    """Durations are the plan's own where it has them; requests need a guess in closed loop."""
    answer_s = FIRST_TOKEN_S + plan.workload.output_tokens / TOKENS_PER_S
    seconds: list[float] = []
    requests = 0.0
    for stage in plan.stages:
        per_s = stage.rate_per_s if stage.kind == "open" else stage.concurrency / answer_s
        by_count = stage.requests / per_s if stage.requests else float("inf")
        length_s = min(stage.seconds or float("inf"), by_count)
        seconds.append(length_s)
        requests += per_s * length_s
    closed = any(stage.kind == "closed" for stage in plan.stages)
    return Estimate(
        seconds=seconds,
        requests=requests,
        input_tokens=requests * plan.workload.prompt_tokens,
        output_tokens=requests * plan.workload.output_tokens,
        assumed=closed,
    )


def load_curve(plan: Plan, cost: Estimate) -> tuple[list[float], list[float]]:
    """(seconds, load) as steps: a level holds from its second to the next; the last one ends it."""
    t_s, values = [0.0], []
    for stage, length_s in zip(plan.stages, cost.seconds, strict=True):
        values.append(stage.rate_per_s if stage.kind == "open" else float(stage.concurrency))
        t_s.append(t_s[-1] + length_s)
    return t_s, [*values, values[-1]]
