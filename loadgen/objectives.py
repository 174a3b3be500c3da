"""The plan's objectives as a search asks them: each class of traffic against each of its limits."""

from dataclasses import dataclass

from loadgen.plan import Plan

TITLES = {
    "ttft": "TTFT",
    "ttft_visible": "TTFT of visible text",
    "tpot": "TPOT",
    "e2e": "E2E",
    "chunk_gap": "chunk gap",
    "longest_gap": "longest gap",
}


@dataclass(frozen=True, slots=True)
class Objective:
    """`percentile` of `metric` of one class's requests is at most `limit_us`."""

    metric: str
    percentile: float
    limit_us: int
    traffic_class: str
    label: str


def objectives(plan: Plan) -> list[Objective]:
    """In the order of the plan; a class is named where there are several."""
    found: list[Objective] = []
    for traffic in plan.traffic():
        whose = f"{traffic.name}: " if plan.classes else ""
        for slo in plan.slos_of(traffic):
            what = f"{TITLES[slo.metric]} p{slo.percentile:g} ≤ {slo.max_ms:g} ms"
            limit_us = round(slo.max_ms * 1000)
            label = f"{whose}{what}"
            found.append(Objective(slo.metric, slo.percentile, limit_us, traffic.name, label))
    return found
