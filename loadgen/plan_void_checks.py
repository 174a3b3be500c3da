"""Fields of a plan that would have no effect where they stand."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loadgen.plan_problem import Problem, problem, workload_at
from loadgen.plan_stages import Replay

if TYPE_CHECKING:
    from loadgen.plan import Plan


def void_problems(plan: "Plan") -> Iterator[Problem]:
    """Each is said: whoever wrote it expected something of it."""
    yield from _share_beside_load(plan)
    yield from _work_of_a_trace(plan)


def _share_beside_load(plan: "Plan") -> Iterator[Problem]:
    for i, traffic in enumerate(plan.classes):
        if traffic.load is not None and traffic.share != 1:
            yield problem(
                f"classes[{i}].share is {traffic.share:g}, but the class brings a load of its own "
                f"and has no share of the stages'; leave out share or classes[{i}].load.",
                f"classes[{i}].load",
            )


def _work_of_a_trace(plan: "Plan") -> Iterator[Problem]:
    """A trace says which requests have something in common, and which are of one conversation."""
    kinds = {stage.kind for stage in plan.stages} - {"idle"}
    if kinds != {"replay"}:
        return
    # A trace of one's own may have a column prefix_group: how long prefixes are, the plan says.
    formats = {stage.format for stage in plan.stages if isinstance(stage, Replay)}
    is_public = formats <= {"azure", "mooncake", "burstgpt"}
    for i, traffic in enumerate(plan.traffic()):
        for name in ("prefix", "conversation") if is_public else ("conversation",):
            if traffic.load is None and getattr(traffic.workload, name) is not None:
                where = f"{workload_at(plan, i)}.{name}"
                yield problem(
                    f"{where} is given, but every stage replays a trace, which alone says what its "
                    "requests share; leave it out.",
                    "stages",
                    f"classes[{i}].load",
                )
