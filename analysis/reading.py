"""Everything the analysis of one run needs, asked of the store once: frames, windows, the plan."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from analysis.frames import floats, is_in, number, where, words
from analysis.gap_intervals import GapDoubt, gap_doubt
from analysis.level_names import unique_names
from analysis.samples import Cohort, cohort
from analysis.window_choice import Choice, Span, level_span, level_window
from analysis.windows import SCHEDULED, Window, is_complete, members, stage_window
from loadgen.plan import Plan, PlanError, Slo, TrafficClass, parse

UNREAD = (
    "x_request_id", "response_id", "server_request_id", "other_events", "first_byte_us",
    "headers_us", "bytes_received", "server_decode_us", "ttft_us", "ttft_visible_us",
    "ttft_sched_us", "e2e_us", "e2e_sched_us", "tpot_us", "send_lag_us", "dispatch_us",
    "client_queue_us", "close_us", "one_token_per_chunk",
)  # fmt: skip
"""Columns of the question `requests` that nothing here looks at: a third of what it costs."""
PERCENTILES = (0.5, 0.9, 0.95, 0.99)
FAR = 0.999  # shown of FAR_NEEDS samples and more
FAR_NEEDS = 1000


class Ask(Protocol):
    """`storage.client.Store.ask`: a named query of the store."""

    def __call__(self, name: str, /, **args: Any) -> pd.DataFrame:
        """The frame documented at the query's function in storage/queries.py."""
        ...


@dataclass(frozen=True)
class StageReading:
    """One class of traffic in one load level: its frames, and the level's row and window.

    requests: all rows of the class but preflight.  gap_doubt: by metric, "gap" and "itl".
    gaps, tokens: within the window, as is bounds,
    which is of all classes: how well arrivals are known is the client's doing, not theirs.
    automatic, span: the window that would be found by itself, and the whole level's, µs.
    histogram, per_second: of the whole stage.  traffic: None in a run with one class.
    """

    row: dict[str, Any]
    traffic: str | None
    window: Window
    automatic: Window
    span: Span
    requests: pd.DataFrame
    gaps: pd.DataFrame
    gap_doubt: dict[str, GapDoubt]
    tokens: pd.DataFrame
    bounds: pd.DataFrame
    histogram: pd.DataFrame
    per_second: pd.DataFrame
    is_foreign: bool = False  # of a run imported from another tool's file

    @cached_property
    def cohort(self) -> Cohort:
        """The requests that arrived within the window."""
        return cohort(members(self.requests, self.window))

    @property
    def name(self) -> str:
        """As shown on axes: `c=16`, `5/s`, `c=16 · chat`; nothing else in the run has it."""
        name = str(self.row["name"])
        return name if self.traffic is None else f"{name} · {self.traffic}"

    @property
    def is_told(self) -> bool:
        """Whether there are single requests: a file of another tool may be its summary alone."""
        return not self.is_foreign or len(self.requests) > 0

    @property
    def kind(self) -> str:
        """`open` where requests were due by a schedule, whatever beside them was not."""
        if len(self.requests) and self.traffic is not None:
            return "closed" if np.isnan(floats(self.requests, "due_us")).all() else "open"
        return "open" if self.row["kind"] in SCHEDULED else str(self.row["kind"])


@dataclass(frozen=True)
class Reading:
    """One run.  run: its row as a dict; plan: None when the run has none that parses."""

    run: dict[str, Any]
    plan: Plan | None
    stages: list[StageReading]
    outcomes: pd.DataFrame
    pulses: pd.DataFrame

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the run learned that has no column of its own."""
        return facts_of(self.run)

    def traffic_of(self, stage: StageReading) -> TrafficClass | None:
        """The plan's class of a level's traffic; None without a plan that parses."""
        if self.plan is None:
            return None
        found = {one.name: one for one in self.plan.traffic()}
        return found.get(stage.traffic or "", self.plan.traffic()[0])

    def slos_of(self, stage: StageReading) -> list[Slo]:
        """The objectives that a level's traffic is judged by."""
        traffic = self.traffic_of(stage)
        return self.plan.slos_of(traffic) if self.plan and traffic else []


def read(ask: Ask, run: str, is_whole: bool = False) -> Reading:
    """All frames of one run, by its run_uid; raises LookupError when the store has no such run.

    is_whole: each level from its begin to its end instead of within its window.
    """
    found = ask("run", run=run)
    if not len(found):
        raise LookupError(f"no run {run!r} here; `headway show last` shows the newest")
    row = rows(found)[0]
    plan = plan_of(row)
    requests = ask("requests", run=run, without=UNREAD)
    load = where(requests, ~is_in(requests, "phase", "preflight"))
    classes = _classes(plan, load)
    choice = _choice(ask, row, is_whole)
    whole = {
        (name, traffic): ask(name, run=run, **_only(traffic))
        for name in ("gap_hist", "tokens_per_s")
        for traffic in classes
    }
    stages: list[StageReading] = []
    for stage in _named_apart(rows(ask("stages", run=run).sort_values("stage"))):
        index = int(stage["stage"])
        mine = _of_stage(load, index)
        window = level_window(stage, mine, choice)
        at: dict[str, Any] = {"run": run, "stage": index}
        at |= {"w0_us": window.begin_us, "w1_us": window.end_us}
        bounds = ask("stamp_bounds", **at)
        for traffic in _present(classes, mine):
            own = mine if traffic is None else of_class(mine, traffic)
            gaps = ask("gap_quantiles", qs=_percentiles(plan), **at, **_only(traffic))
            asked = members(own, window)
            stages.append(
                StageReading(
                    row=stage,
                    traffic=traffic,
                    window=window,
                    automatic=stage_window(stage, mine),
                    span=level_span(stage, mine),
                    requests=own,
                    gaps=gaps,
                    gap_doubt=gap_doubt(
                        ask, at | _only(traffic), gaps, where(asked, is_complete(asked))
                    ),
                    tokens=ask("window_tokens", **at, **_only(traffic)),
                    bounds=bounds,
                    histogram=_of_stage(whole["gap_hist", traffic], index),
                    per_second=_of_stage(whole["tokens_per_s", traffic], index),
                    is_foreign=choice.imported_from is not None,
                )
            )
    return Reading(row, plan, stages, ask("outcomes", run=run), ask("pulses", run=run))


def facts_of(run: dict[str, Any]) -> dict[str, Any]:
    """The run's `facts`, parsed; {} where it has none."""
    stored = run.get("facts")
    return json.loads(stored) if isinstance(stored, str) and stored else {}


def _choice(ask: Ask, run: dict[str, Any], is_whole: bool) -> Choice:
    moved = {int(w["stage"]): (int(w["w0_us"]), int(w["w1_us"])) for w in _windows(ask, run)}
    imported = facts_of(run).get("imported") or {}
    source = run.get("source")
    return Choice(
        by_hand=moved,
        is_whole=is_whole,
        imported_from=str(imported.get("title") or source) if isinstance(source, str) else None,
        has_times=bool(imported.get("has_times", True)),
    )


def _windows(ask: Ask, run: dict[str, Any]) -> list[dict[str, Any]]:
    return rows(ask("windows", run=str(run["run_uid"])))


def of_class(requests: pd.DataFrame, traffic: str) -> pd.DataFrame:
    """The rows of one class of traffic."""
    return where(requests, is_in(requests, "traffic_class", traffic))


def percentiles_of(n: int) -> tuple[float, ...]:
    """Those shown of n samples: p99.9 only of 1,000 or more."""
    return (*PERCENTILES, FAR) if n >= FAR_NEEDS else PERCENTILES


def _percentiles(plan: Plan | None) -> list[float]:
    """Those shown everywhere, and those that an objective names."""
    traffic = plan.traffic() if plan else ()
    asked = (
        {slo.percentile / 100 for one in traffic for slo in plan.slos_of(one)} if plan else set()
    )
    return sorted({*PERCENTILES, FAR, *asked})


def _classes(plan: Plan | None, requests: pd.DataFrame) -> list[str | None]:
    """Names of the classes in the plan's order; [None] where there is only one."""
    names = (
        [one.name for one in plan.traffic()]
        if plan
        else sorted(set(words(requests, "traffic_class")))
    )
    return [*names] if len(names) > 1 else [None]


def _present(classes: list[str | None], requests: pd.DataFrame) -> list[str | None]:
    """The classes that sent something in a level; all together if none did."""
    found = set(words(requests, "traffic_class"))
    return [name for name in classes if name is None or name in found] or [None]


def _only(traffic: str | None) -> dict[str, Any]:
    return {} if traffic is None else {"traffic": traffic}


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
