"""What the parts of a plan must be to each other: every problem, one sentence each."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loadgen.plan_load_checks import load_problems
from loadgen.plan_problem import Problem, problem, target_at, workload_at
from loadgen.plan_void_checks import void_problems
from loadgen.plan_work_checks import work_problems

if TYPE_CHECKING:
    from loadgen.plan import Plan, Slo

LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")


def problems_of(plan: "Plan") -> list[Problem]:
    """Every contradiction between fields that are each well formed."""
    return [
        *_names(plan),
        *_targets(plan),
        *_machines(plan),
        *_objectives(plan),
        *work_problems(plan),
        *load_problems(plan),
        *void_problems(plan),
    ]


def _names(plan: "Plan") -> Iterator[Problem]:
    names = [traffic.name for traffic in plan.classes]
    for i, name in enumerate(names):
        if name in names[:i]:
            first = f"classes[{names.index(name)}].name"
            yield problem(f"classes[{i}].name is {name!r}, as is {first}.", first)
        if not name.isprintable():
            yield problem(
                f"classes[{i}].name is {name!r}; expected a name without line ends and the like."
            )
    if plan.classes and plan.workload != type(plan.workload)():
        yield problem(
            "workload is given beside classes, which have a workload each; move it into one.",
            "classes",
        )


def _targets(plan: "Plan") -> Iterator[Problem]:
    for i, traffic in enumerate(plan.classes):
        if traffic.target is not None and traffic.target not in plan.targets:
            known = ", ".join(plan.targets) or "none"
            yield problem(
                f"classes[{i}].target is {traffic.target!r}, which names no target; expected one "
                f"of [targets.NAME] (here: {known}), or none for [target].",
                f"targets.{traffic.target}",
            )
    used = {traffic.target for traffic in plan.classes}
    named_by = tuple(f"classes[{i}].target" for i in range(max(1, len(plan.classes))))
    for name in plan.targets:
        if name not in used:
            told = f"targets.{name} is used by no class; name it in a class's target, or drop it."
            yield Problem(told, named_by)


def _machines(plan: "Plan") -> Iterator[Problem]:
    if plan.n_workers == 0:
        yield problem(
            "workers is 0 and no [machines] are given that have any: nobody would send anything.",
            "machines",
        )
    if plan.machines is None or not plan.machines.workers:
        return
    bind, name = plan.machines.bind, plan.machines.secret_env
    if name is None and not LOOPBACK.fullmatch(bind):
        yield problem(
            f"machines.secret_env is missing: machines.bind is {bind!r}, which others can reach; "
            "name the environment variable that holds the shared secret.",
            "machines.bind",
        )


def _objectives(plan: "Plan") -> Iterator[Problem]:
    listed = [("slos", plan.slos)]
    listed += [(f"classes[{i}].slos", c.slos) for i, c in enumerate(plan.classes) if c.slos]
    for where, slos in listed:
        yield from _twice(where, slos)
    for i, traffic in enumerate(plan.traffic()):
        target, at = plan.target_if_known(traffic), target_at(plan, i)
        is_whole = not traffic.workload.stream
        if target is not None and (is_whole or target.api == "openai_embeddings"):
            where = "slos" if traffic.slos is None else f"classes[{i}].slos"
            because = (f"{workload_at(plan, i)}.stream", f"{at}.api", f"classes[{i}].target")
            yield from _only_e2e(where, plan.slos_of(traffic), because)


def _twice(where: str, slos: "list[Slo]") -> Iterator[Problem]:
    keys = [(slo.metric, slo.percentile) for slo in slos]
    for i, (metric, percentile) in enumerate(keys):
        if (first := keys.index((metric, percentile))) < i:
            yield problem(
                f"{where}[{i}] limits {metric} p{percentile:g}, as does {where}[{first}]; keep one "
                "of them.",
                f"{where}[{first}]",
            )


def _only_e2e(where: str, slos: "list[Slo]", because: tuple[str, ...]) -> Iterator[Problem]:
    for i, slo in enumerate(slos):
        if slo.metric != "e2e":
            yield problem(
                f"{where}[{i}].metric is {slo.metric!r}, but answers in one piece have no first "
                "token and no gaps; expected 'e2e'.",
                *because,
            )
