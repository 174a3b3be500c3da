"""The levels of a search: each probe is one, and the next depends on it."""

from typing import Any

from loadgen.objectives import objectives
from loadgen.plan import Plan
from loadgen.plan_stages import Search
from loadgen.probe_judge import ProbeJudge
from loadgen.program import Step, Steps, load_at
from search.answer import answer_of
from search.probing import Bounds, Probe, ProbeResult, next_probe, pooled


def search_steps(plan: Plan, asked: int, answers: list[dict[str, Any]]) -> Steps:
    """Probe by probe; the last entry of `answers` is what is known so far."""
    search = plan.stages[asked]
    assert isinstance(search, Search)
    wanted = tuple(objectives(plan))
    if not wanted:
        raise ValueError(f"stages[{asked}] is a search, but the plan has no objectives (slos).")
    bounds, found, levels = bounds_of(search), list[ProbeResult](), list[int]()
    answers.append({})
    while True:
        probe = next_probe(found, bounds)
        is_done = not isinstance(probe, Probe)
        known = answer_of(found, bounds, search.over)
        answers[-1] = {
            "asked": asked,
            "kind": "search",
            "is_done": is_done,
            **known.to_dict(),
            "sentence": known.sentence if is_done else f"So far: {known.sentence}",
            "confidence": search.confidence,
            "levels": list(levels),
        }
        if is_done:
            return
        load = load_at(search, search.over, probe.value, probe.most_requests)
        before = {t.value: t.tallies for t in pooled(found, bounds.confidence)}
        judge = ProbeJudge(probe.value, wanted, bounds, before.get(probe.value, ()))
        why = f"probe {len(found) + 1} of the search: {probe.why}"
        shown = yield Step(load, asked, why, is_watched=True, judge=judge)
        assert shown is not None
        found.append(judge.result(shown.seen))
        levels.append(shown.stage)


def bounds_of(search: Search) -> Bounds:
    """Where a search looks; streams come in whole numbers."""
    return Bounds(
        low=search.low,
        high=search.high,
        is_whole=search.over == "concurrency",
        tolerance=search.tolerance,
        confidence=search.confidence,
        most_requests=search.most_requests,
    )
