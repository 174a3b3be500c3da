"""What the fields of a plan must be to each other: every problem, one sentence each."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.plan import Plan, Slo


def problems_of(plan: "Plan") -> list[str]:
    """Every contradiction between fields that are each well formed."""
    found = [*_classes(plan), *_machines(plan), *_inputs(plan)]
    if not any("names no target" in problem for problem in found):
        found += _objectives(plan)
    return found


def _classes(plan: "Plan") -> Iterator[str]:
    names = [traffic.name for traffic in plan.classes]
    for i, traffic in enumerate(plan.classes):
        if traffic.target is not None and traffic.target not in plan.targets:
            known = ", ".join(plan.targets) or "none"
            yield (
                f"classes[{i}].target is {traffic.target!r}, which names no target; expected one "
                f"of [targets.NAME] (here: {known}), or none for [target]."
            )
        if traffic.name in names[:i]:
            yield f"classes[{i}].name is {traffic.name!r}, as is that of another class."
    if plan.classes and plan.workload != type(plan.workload)():
        yield "workload is given beside classes, which have a workload each; move it into one."
    shared = [traffic for traffic in plan.traffic() if traffic.load is None]
    for i, stage in enumerate(plan.stages):
        if stage.kind != "idle" and not shared:
            yield (
                f"stages[{i}] has a load, but every class brings its own; expected kind = 'idle' "
                "with seconds."
            )


def _machines(plan: "Plan") -> Iterator[str]:
    if plan.workers == 0 and plan.machines is None:
        yield "workers is 0 and no [machines] are given: nobody would send anything."


def _inputs(plan: "Plan") -> Iterator[str]:
    for i, traffic in enumerate(plan.traffic()):
        if traffic.target is not None and traffic.target not in plan.targets:
            continue
        n, api = traffic.workload.inputs_per_request, plan.target_of(traffic).api
        if n > 1 and api != "openai_embeddings":
            where = f"classes[{i}].workload" if plan.classes else "workload"
            yield (
                f"{where}.inputs_per_request is {n}, and {api} takes one prompt in a request; "
                "only openai_embeddings takes several."
            )


def _objectives(plan: "Plan") -> Iterator[str]:
    for i, traffic in enumerate(plan.traffic()):
        is_whole = plan.target_of(traffic).api == "openai_embeddings" or not traffic.workload.stream
        if not is_whole:
            continue
        where = "slos" if traffic.slos is None else f"classes[{i}].slos"
        yield from _only_e2e(plan.slos_of(traffic), where)


def _only_e2e(slos: "list[Slo]", where: str) -> Iterator[str]:
    for i, slo in enumerate(slos):
        if slo.metric != "e2e":
            yield (
                f"{where}[{i}].metric is {slo.metric!r}, but answers in one piece have no first "
                "token and no gaps; expected 'e2e'."
            )
