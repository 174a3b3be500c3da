"""From a plan's stages to the levels of a run, one after another.

Most are known beforehand.  A search, and a sweep by doubling, ask for the next level once they know
what the one before has shown.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.plan import ClosedLoop, Load, OpenLoop, Plan
from loadgen.plan_stages import Search, Sweep

if TYPE_CHECKING:  # scipy comes with it, which a run without a search does not need
    from loadgen.probe_judge import ProbeJudge
    from loadgen.probe_results import LevelSeen


@dataclass(frozen=True, slots=True)
class Step:
    """The next level: its load, which of the plan's stages asked for it, and what for."""

    load: Load
    asked: int
    why: str | None = None
    is_watched: bool = False  # what it showed is wanted
    judge: "ProbeJudge | None" = None  # says when it has shown enough


@dataclass(frozen=True, slots=True)
class Shown:
    """What a level that was watched has shown.  issue_us: when its requests were begun."""

    stage: int
    seen: "LevelSeen"
    issue_us: tuple[int, int]


Steps = Generator[Step, Shown | None]


class Program:
    """The levels of a run; `answers` grows as searches and sweeps find theirs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._steps = self._all()
        self._has_begun = False
        self.answers: list[dict[str, Any]] = []

    def next(self, shown: Shown | None) -> Step | None:
        """The next level, None at the end.  shown: what the last one has shown, if watched."""
        try:
            if self._has_begun:
                return self._steps.send(shown)
            self._has_begun = True
            return next(self._steps)
        except StopIteration:
            return None

    def _all(self) -> Steps:
        for asked, stage in enumerate(self._plan.stages):
            if isinstance(stage, Search):
                from loadgen.program_search import search_steps

                yield from search_steps(self._plan, asked, self.answers)
            elif isinstance(stage, Sweep) and stage.doubling:
                from loadgen.program_doubling import doubling_steps

                yield from doubling_steps(stage, asked, self.answers)
            elif isinstance(stage, Sweep):
                for load in sweep_levels(stage):
                    yield Step(load, asked)
            else:
                yield Step(stage, asked)


def known_levels(plan: Plan) -> list[Load] | None:
    """Every level of a plan; None where some depend on what those before show."""
    levels: list[Load] = []
    for stage in plan.stages:
        if isinstance(stage, Search) or (isinstance(stage, Sweep) and stage.doubling):
            return None
        levels += sweep_levels(stage) if isinstance(stage, Sweep) else [stage]
    return levels


def sweep_levels(sweep: Sweep) -> list[Load]:
    """The levels of a sweep that lists them."""
    closed = [load_at(sweep, "concurrency", streams) for streams in sweep.concurrency or ()]
    return closed + [load_at(sweep, "rate_per_s", rate) for rate in sweep.rate_per_s or ()]


def load_at(
    template: Sweep | Search, over: str, value: float, most_requests: int | None = None
) -> Load:
    """A template's load with `value` streams or requests/s.  most_requests: beside its own end."""
    ended: dict[str, Any] = {
        "requests": template.requests if most_requests is None else most_requests,
        "seconds": template.seconds,
        "warmup_s": template.warmup_s,
    }
    if over == "concurrency":
        return ClosedLoop(concurrency=round(value), **ended)
    return OpenLoop(rate_per_s=value, arrivals=template.arrivals, **ended)
