"""From a plan's stages to the levels of a run, one after another."""

from collections.abc import Iterator
from dataclasses import dataclass

from loadgen.plan import ClosedLoop, Load, OpenLoop, Plan
from loadgen.plan_stages import Search, Sweep


@dataclass(frozen=True, slots=True)
class Step:
    """The next level: its load, which of the plan's stages asked for it, and what for."""

    load: Load
    asked: int
    why: str | None = None


def steps(plan: Plan) -> Iterator[Step]:
    """Every level that is known beforehand."""
    for asked, stage in enumerate(plan.stages):
        if isinstance(stage, Sweep):
            yield from (Step(load, asked) for load in sweep_levels(stage))
        elif not isinstance(stage, Search):
            yield Step(stage, asked)


def sweep_levels(sweep: Sweep) -> list[Load]:
    """The levels of a sweep that lists them."""
    closed: list[Load] = [_closed(sweep, streams) for streams in sweep.concurrency or ()]
    return closed + [_open(sweep, rate_per_s) for rate_per_s in sweep.rate_per_s or ()]


def _closed(sweep: Sweep, streams: int) -> ClosedLoop:
    return ClosedLoop(
        concurrency=streams,
        requests=sweep.requests,
        seconds=sweep.seconds,
        warmup_s=sweep.warmup_s,
    )


def _open(sweep: Sweep, rate_per_s: float) -> OpenLoop:
    return OpenLoop(
        rate_per_s=rate_per_s,
        arrivals=sweep.arrivals,
        requests=sweep.requests,
        seconds=sweep.seconds,
        warmup_s=sweep.warmup_s,
    )
