"""Everything the analysis of one run needs, asked of the store once: frames, windows, the plan."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pandas as pd

from analysis.frames import floats, is_in, number, where
from analysis.level_names import unique_names
from analysis.samples import Cohort, cohort
from analysis.windows import Window, members, stage_window
from loadgen.plan import Plan, PlanError, parse

PERCENTILES = (0.5, 0.9, 0.95, 0.99)


class Ask(Protocol):
    """`storage.client.Store.ask`: a named query of the store."""

    def __call__(self, name: str, /, **args: Any) -> pd.DataFrame:
        """The frame documented at the query's function in storage/queries.py."""
        ...


@dataclass(frozen=True)
class StageReading:
    """One load level: its row of `stages`, its window, and the frames of that window.

    requests: all rows of the stage but preflight.  gaps, tokens, bounds: within the window;
    histogram, per_second: of the whole stage.
    """

    row: dict[str, Any]
    window: Window
    requests: pd.DataFrame
    gaps: pd.DataFrame
    tokens: pd.DataFrame
    bounds: pd.DataFrame
    histogram: pd.DataFrame
    per_second: pd.DataFrame

    @cached_property
    def cohort(self) -> Cohort:
        """The requests that arrived within the window."""
        return cohort(members(self.requests, self.window))

    @property
    def name(self) -> str:
        """As shown on axes: `c=16` or `5/s`; no other level of the run has it."""
        return str(self.row["name"])

    @property
    def kind(self) -> str:
        """`closed` or `open`."""
        return str(self.row["kind"])


@dataclass(frozen=True)
class Reading:
    """One run.  run: its row as a dict; plan: None when the run has none that parses."""

    run: dict[str, Any]
    plan: Plan | None
    stages: list[StageReading]
    outcomes: pd.DataFrame
    pulses: pd.DataFrame


def read(ask: Ask, run: str) -> Reading:
    """All frames of one run, by its run_uid; raises LookupError when the store has no such run."""
    found = ask("run", run=run)
    if not len(found):
        raise LookupError(f"no run {run!r} here; `headway show last` shows the newest")
    row = rows(found)[0]
    plan = plan_of(row)
    qs = sorted({*PERCENTILES, *((slo.percentile / 100) for slo in (plan.slos if plan else []))})
    requests = ask("requests", run=run)
    load = where(requests, ~is_in(requests, "phase", "preflight"))
    whole = {name: ask(name, run=run) for name in ("gap_hist", "tokens_per_s")}
    stages: list[StageReading] = []
    for stage in _named_apart(rows(ask("stages", run=run).sort_values("stage"))):
        index = int(stage["stage"])
        mine = _of_stage(load, index)
        window = stage_window(stage, mine)
        at: dict[str, Any] = {"run": run, "stage": index}
        at |= {"w0_us": window.begin_us, "w1_us": window.end_us}
        stages.append(
            StageReading(
                row=stage,
                window=window,
                requests=mine,
                gaps=ask("gap_quantiles", qs=qs, **at),
                tokens=ask("window_tokens", **at),
                bounds=ask("stamp_bounds", **at),
                histogram=_of_stage(whole["gap_hist"], index),
                per_second=_of_stage(whole["tokens_per_s"], index),
            )
        )
    return Reading(row, plan, stages, ask("outcomes", run=run), ask("pulses", run=run))


def _named_apart(stages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = unique_names(str(stage["name"]) for stage in stages)
    return [stage | {"name": name} for stage, name in zip(stages, names, strict=True)]


def plan_of(run: dict[str, Any]) -> Plan | None:
    """The plan stored with a run; None for imported runs and plans of another version."""
    stored = run.get("plan")
    if not isinstance(stored, str | bytes | dict):
        return None
    try:
        return parse(stored if isinstance(stored, dict) else json.loads(stored))
    except (PlanError, json.JSONDecodeError):
        return None


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows as dicts, column name to cell."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def cell(frame: pd.DataFrame, column: str) -> float | None:
    """A cell of a one-row answer; None when the frame is empty, lacks it, or holds nothing."""
    if not len(frame) or column not in frame.columns:
        return None
    return number(frame[column].iloc[0])


def _of_stage(frame: pd.DataFrame, stage: int) -> pd.DataFrame:
    return where(frame, floats(frame, "stage") == stage)
