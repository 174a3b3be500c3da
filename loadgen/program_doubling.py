"""The levels of a sweep by doubling: twice the load while that brings more throughput."""

from typing import Any

from loadgen.plan_stages import Sweep
from loadgen.program import Step, Steps, load_at
from search.doubling import Ladder, Top, next_level


def doubling_steps(sweep: Sweep, asked: int, answers: list[dict[str, Any]]) -> Steps:
    """Level by level; the last entry of `answers` is what is known so far."""
    doubling = sweep.doubling
    assert doubling is not None
    ladder = Ladder(doubling.start, doubling.most, doubling.least_gain)
    found, levels = list[tuple[float, float | None]](), list[int]()
    answers.append({})
    while True:
        load = next_level(found, ladder)
        is_done = isinstance(load, Top)
        answers[-1] = {
            "asked": asked,
            "kind": "doubling",
            "is_done": is_done,
            "over": doubling.over,
            "sentence": load.why if is_done else "",
            "tokens_per_s": [[value, throughput] for value, throughput in found],
            "levels": list(levels),
        }
        if is_done:
            return
        value = round(load) if doubling.over == "concurrency" else load
        why = f"level {len(found) + 1} of the sweep by doubling"
        shown = yield Step(load_at(sweep, doubling.over, value), asked, why, is_watched=True)
        assert shown is not None
        begin_us, end_us = shown.issue_us
        measured_us = (begin_us + round(sweep.warmup_s * 1e6), end_us)
        found.append((value, shown.seen.tokens_per_s(measured_us)))
        levels.append(shown.stage)
