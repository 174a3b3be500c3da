"""What the searches of a run found, beside its levels: a probe is no level to be judged by.

A probe that misses an objective is how a search finds the limit, so the run's objectives are met
where the search found a load at which they hold.
"""

from typing import Any, Literal

from analysis.slo import Result

Json = dict[str, Any]
Tone = Literal["good", "bad", "warn", "neutral"]

_TONES: dict[Result, Tone] = {"met": "good", "missed": "bad", "not enough data": "warn"}


def searches(answers: list[Json]) -> list[Json]:
    """Of the run's answers those of searches; a sweep by doubling has no objective."""
    return [answer for answer in answers if answer.get("kind") == "search"]


def probes(answers: list[Json]) -> set[int]:
    """Numbers of the levels that were probes of a search."""
    return {level for answer in searches(answers) for level in answer["levels"]}


def result(answer: Json) -> Result:
    """Whether a load was found at which the objectives hold; a search cut short cannot say no."""
    if answer["low"] is not None:
        return "met"
    return "missed" if answer["end"] == "none" else "not enough data"


def broken(answers: list[Json]) -> list[str]:
    """Sentences of the searches that found no such load."""
    return [answer["sentence"] for answer in searches(answers) if result(answer) != "met"]


def said(answers: list[Json]) -> tuple[list[str], list[Tone]]:
    """A sentence of each search, and how good the news is."""
    found = searches(answers)
    return [answer["sentence"] for answer in found], [_TONES[result(answer)] for answer in found]


def beside(answers: list[Json], levels: list[Json]) -> list[Json]:
    """The levels of the run that were no probes."""
    numbers = probes(answers)
    return [level for level in levels if level.get("level") not in numbers]
