"""What the stages of a plan must be to its classes, objectives and limits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from loadgen.plan_problem import Problem, problem, target_at
from loadgen.plan_shapes import Day
from loadgen.plan_templates import Search, Sweep

if TYPE_CHECKING:
    from loadgen.plan import Plan


def load_problems(plan: "Plan") -> Iterator[Problem]:
    """Stages that nobody carries out, searches for nothing, limits that cut or never count."""
    yield from _nobody(plan)
    yield from _night_above_day(plan)
    yield from _nothing_to_find(plan)
    yield from _cut_short(plan)
    yield from _unpriced(plan)


def _nobody(plan: "Plan") -> Iterator[Problem]:
    loads = tuple(f"classes[{i}].load" for i in range(max(1, len(plan.classes))))
    is_shared = [traffic.load is None for traffic in plan.traffic()]
    is_idle = [stage.kind == "idle" for stage in plan.stages]
    for i, idle in enumerate(is_idle):
        if not idle and not any(is_shared):
            yield problem(
                f"stages[{i}] has a load, but every class brings its own; expected kind = 'idle' "
                "with seconds.",
                *loads,
            )
    if all(is_idle) and all(is_shared):
        yield problem(
            "stages are all idle and no class brings a load of its own: nothing would be sent.",
            *loads,
        )


def _night_above_day(plan: "Plan") -> Iterator[Problem]:
    for i, stage in enumerate(plan.stages):
        for name in ("rate_per_s", "concurrency"):
            day = getattr(stage, name, None)
            if isinstance(day, Day) and day.low > day.high:
                yield problem(
                    f"stages[{i}].{name} has low = {day.low:g} above high = {day.high:g}, at its "
                    "peak_hour."
                )


def _nothing_to_find(plan: "Plan") -> Iterator[Problem]:
    judged = [slo for traffic in plan.traffic() for slo in plan.slos_of(traffic)]
    slos = ("slos", *(f"classes[{i}].slos" for i in range(len(plan.classes))))
    for i, stage in enumerate(plan.stages):
        if isinstance(stage, Search) and not judged:
            yield problem(
                f"stages[{i}] is a search for the largest load at which the objectives hold, but "
                "the plan has none; give it [[slos]].",
                *slos,
            )


def _cut_short(plan: "Plan") -> Iterator[Problem]:
    """Limits of the whole run that its stages, as long as they must be, are known to exceed."""
    limits = plan.limits
    asked = _sum(plan, "requests")
    if limits.requests is not None and asked > limits.requests:
        yield problem(
            f"limits.requests is {limits.requests}, but the stages ask for {asked:g} in all; the "
            "run would end before they do.",
            "stages",
        )
    asked_s = _sum(plan, "seconds")
    if limits.seconds is not None and asked_s > limits.seconds:
        yield problem(
            f"limits.seconds is {limits.seconds:g}, but the stages last {asked_s:g} s in all; the "
            "run would end before they do.",
            "stages",
        )


def _sum(plan: "Plan", end: str) -> float:
    """Over the stages that this alone ends.  Nobody knows how many probes a search has."""
    other = "seconds" if end == "requests" else "requests"
    return sum(
        _levels(stage) * (getattr(stage, end) or 0)
        for stage in plan.stages
        if getattr(stage, other) is None and stage.kind not in ("search", "replay")
    )


def _levels(stage: Any) -> int:
    if not isinstance(stage, Sweep):
        return 1
    return len(stage.concurrency or stage.rate_per_s or (1,))


def _unpriced(plan: "Plan") -> Iterator[Problem]:
    dollars = plan.limits.dollars
    if dollars is None:
        return
    unpriced: dict[str, tuple[str, ...]] = {}
    for i, traffic in enumerate(plan.traffic()):
        target = plan.target_if_known(traffic)
        if target is not None and target.prices is None:
            unpriced[target_at(plan, i)] = (f"{target_at(plan, i)}.prices", f"classes[{i}].target")
    for where, fields in unpriced.items():
        yield problem(
            f"limits.dollars is {dollars:g}, but {where}.prices are not given, so nothing could be "
            "counted there.",
            *fields,
        )
