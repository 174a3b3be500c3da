"""The plan of a test: targets, classes of traffic, stages, SLOs, limits, seed.  TOML or JSON.

Its parts have files of their own: plan_target, plan_workload, plan_lengths, plan_stages,
plan_shapes.  docs/plan.md explains every field.
"""

import hashlib
import json
import re
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, ValidationError, field_validator

from loadgen.plan_checks import problems_of
from loadgen.plan_mending import Mending
from loadgen.plan_parts import Part, PlanError
from loadgen.plan_stages import ClosedLoop, Idle, Load, OpenLoop, OwnLoad, Replay, Stage
from loadgen.plan_target import VARIABLE_NAME, Target
from loadgen.plan_workload import Workload

__all__ = [
    "ClosedLoop",
    "Idle",
    "Limits",
    "Load",
    "Machines",
    "OpenLoop",
    "Plan",
    "PlanError",
    "Replay",
    "Slo",
    "Target",
    "TrafficClass",
    "Workload",
    "load",
    "parse",
    "place_of",
    "read",
]
DEFAULT_CLASS = "default"
MAIN_TARGET = "main"
MOST_ROUNDS = 20  # of mending; two or three do
Name = Annotated[str, Field(min_length=1, max_length=60)]


class Slo(Part):
    """One objective: `percentile` of `metric` stays at or below `max_ms`."""

    metric: Literal["ttft", "ttft_visible", "tpot", "e2e", "chunk_gap", "longest_gap"]
    percentile: Annotated[float, Field(gt=0, lt=100)] = 95
    max_ms: Annotated[float, Field(gt=0)]


class TrafficClass(Part):
    """One kind of traffic beside others: a share of each stage's load, or a load of its own."""

    name: Name
    target: str | None = None  # a name in `targets`; None: `target`
    share: Annotated[float, Field(gt=0)] = 1  # relative to the other classes' shares
    load: OwnLoad | None = None  # instead of a share: beside every stage, as long as that lasts
    workload: Workload = Workload()
    slos: list[Slo] | None = None  # None: the plan's


class Limits(Part):
    """Where a run stops by itself."""

    max_in_flight: Annotated[int, Field(ge=1)] = 2_000  # open loop; beyond it arrivals are not_sent
    request_s: Annotated[float, Field(gt=0)] = 600
    silence_s: Annotated[float, Field(gt=0)] = 120  # nothing but keep-alive comments for this long
    connect_s: Annotated[float, Field(gt=0)] = 10
    drain_s: Annotated[float, Field(ge=0)] = 30  # a stage's open streams may finish within this
    failed_at_start: Annotated[int, Field(ge=1)] = 3  # the first that fail alike abort the run
    failed_in_a_row: Annotated[int, Field(ge=1)] = 50  # equal failures in a row that abort the run
    failed_share: Annotated[float, Field(gt=0, lt=1)] | None = None  # of 50 answers or more: abort
    requests: Annotated[int, Field(ge=1)] | None = None  # of the whole run, as are the three below
    seconds: Annotated[float, Field(gt=0)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None  # prompts' and answers' together
    dollars: Annotated[float, Field(gt=0)] | None = None  # by the targets' prices


class Machines(Part):
    """Load workers on other machines, which join by `headway worker --master`."""

    workers: Annotated[int, Field(ge=0, le=64)]  # beside plan.workers, which run here
    bind: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 5557  # 0: a free one
    secret_env: str | None = None  # the NAME of the variable with the shared secret
    wait_s: Annotated[float, Field(gt=0)] = 120  # for them to join
    when_lost: Literal["stop", "go_on"] = "stop"

    @field_validator("secret_env")
    @classmethod
    def _a_name_not_a_secret(cls, name: str | None) -> str | None:
        if name and not VARIABLE_NAME.fullmatch(name):
            raise ValueError(
                "is not a variable name; put the secret into an environment variable and name that"
            )
        return name or None


class Plan(Part):
    """Everything a run was asked to do; its bytes' hash answers "same set-up?"."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = "run"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    target: Target
    targets: dict[Name, Target] = Field(default_factory=dict[Name, Target])
    workload: Workload = Workload()
    classes: list[TrafficClass] = Field(default_factory=list[TrafficClass], max_length=32)
    stages: Annotated[list[Stage], Field(min_length=1, max_length=200)]
    slos: list[Slo] = Field(default_factory=list[Slo])
    limits: Limits = Limits()
    workers: Annotated[int, Field(ge=0, le=64)] = 1
    machines: Machines | None = None
    connections: Literal["warm", "cold"] = "warm"  # cold: each stream opens its own connection

    @field_validator("targets")
    @classmethod
    def _names_are_names(cls, targets: dict[str, Target]) -> dict[str, Target]:
        for name in targets:
            if name == MAIN_TARGET or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
                raise ValueError(
                    f"has the name {name!r}; expected letters, digits, - and _, and not "
                    f"{MAIN_TARGET!r}, which is [target]"
                )
        return targets

    @cached_property
    def _traffic(self) -> tuple[TrafficClass, ...]:
        only = TrafficClass(name=DEFAULT_CLASS, workload=self.workload)
        return tuple(self.classes) or (only,)

    def traffic(self) -> tuple[TrafficClass, ...]:
        """The classes of traffic; a plan that names none has one: its `workload`."""
        return self._traffic

    def target_of(self, traffic: TrafficClass) -> Target:
        """Where the class's requests go."""
        return self.target if traffic.target is None else self.targets[traffic.target]

    def target_if_known(self, traffic: TrafficClass) -> Target | None:
        """The same; None where the class names a target that does not exist."""
        return self.target if traffic.target is None else self.targets.get(traffic.target)

    def slos_of(self, traffic: TrafficClass) -> list[Slo]:
        """What the class's requests are judged by."""
        return self.slos if traffic.slos is None else traffic.slos

    def targets_used(self) -> dict[str, Target]:
        """name -> target, of every class; `main` is [target]."""
        return {t.target or MAIN_TARGET: self.target_of(t) for t in self.traffic()}

    @property
    def n_workers(self) -> int:
        """Load workers, here and elsewhere."""
        return self.workers + (self.machines.workers if self.machines else 0)

    def to_json(self) -> bytes:
        """The canonical bytes written to plan.json."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False).encode()

    def sha256(self) -> str:
        """Hex digest of `to_json()`."""
        return hashlib.sha256(self.to_json()).hexdigest()


def place_of(target: str) -> str:
    """Where a plan has the target of that name: `target`, `targets.b`."""
    return "target" if target == MAIN_TARGET else f"targets.{target}"


def parse(raw: dict[str, Any]) -> Plan:
    """A plan from plain values; raises PlanError naming every mistake, each with its field.

    Wrong fields are mended, so that what else is wrong is told in the same answer.
    """
    problems: list[str] = []
    mending, plan = Mending(raw), None
    for _ in range(MOST_ROUNDS):
        try:
            plan = Plan.model_validate(mending.raw)
            break
        except ValidationError as error:
            problems += mending.take(error.errors(), Plan)
    if plan is not None:
        problems += [p.sentence for p in problems_of(plan) if not mending.is_doubtful(*p.fields)]
    if plan is None or problems:
        raise PlanError(list(dict.fromkeys(problems)))
    return plan


def read(path: Path) -> dict[str, Any]:
    """The plain values of a .toml or .json file; raises PlanError if it cannot be read as one."""
    try:
        text = path.read_text(encoding="utf-8")
        raw: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise PlanError([f"{path} cannot be read: {error.strerror or error}."]) from None
    except ValueError as error:  # not UTF-8, not JSON, not TOML
        raise PlanError([f"{path} cannot be read as a plan: {error}."]) from None
    if not isinstance(raw, dict):
        raise PlanError([f"{path} holds a {type(raw).__name__}; a plan is an object."])
    return cast("dict[str, Any]", raw)


def load(path: Path) -> Plan:
    """A plan from a .toml or .json file; raises PlanError, also for a file that cannot be read."""
    return parse(read(path))
