"""What a search found, beside its probes, which are no levels to be judged."""

import pytest

from analysis import searches
from analysis.verdict import headline

FOUND = {"kind": "search", "low": 8, "end": "between", "sentence": "Up to 8.", "levels": [1, 2]}
NONE = {**FOUND, "low": None, "end": "none", "sentence": "Not even at 1."}
UNTOLD = {**FOUND, "low": None, "end": "untold", "sentence": "Nothing clear."}
DOUBLED = {"kind": "doubling", "sentence": "Saturated.", "levels": [3, 4]}


@pytest.mark.parametrize(
    ("answer", "result"), [(FOUND, "met"), (NONE, "missed"), (UNTOLD, "not enough data")]
)
def test_objectives_are_met_where_a_load_was_found_at_which_they_hold(answer, result):
    assert searches.result(answer) == result
    assert searches.broken([answer]) == ([] if result == "met" else [answer["sentence"]])


def test_probes_are_no_levels_to_be_judged_and_those_of_a_sweep_are():
    levels = [{"level": k} for k in range(5)]
    kept = searches.beside([FOUND, DOUBLED], levels)
    assert [level["level"] for level in kept] == [0, 3, 4]
    assert searches.searches([FOUND, DOUBLED]) == [FOUND]


def level(number: int, result: str) -> dict:
    slo = {"result": result, "sentence": f"it is {result}", "metric": "ttft", "percentile": 95}
    return {
        "level": number,
        "name": f"c={number}",
        "class": "default",
        "kind": "closed",
        "mean_in_flight": float(number),
        "slos": [{**slo, "max_ms": 9}],
        "warnings": [],
        "metrics": {"ttft": {"n": 9, "p95": 1.0, "p50": 1.0}},
    }


def run(*answers: dict, levels: list[dict]) -> dict:
    return {
        "levels": levels,
        "search": list(answers),
        "failures": [],
        "outcomes": {"complete": 9},
        "validity": {"verdict": "exact", "reason": "exact"},
    }


def test_a_run_begins_with_what_its_search_found_though_probes_missed_the_objective():
    said = headline(run(FOUND, levels=[level(1, "met"), level(2, "missed")]))
    assert (said.text, said.tone, said.more) == ("Up to 8.", "good", [])


@pytest.mark.parametrize(("answer", "tone"), [(NONE, "bad"), (UNTOLD, "warn")])
def test_a_search_that_found_nothing_is_no_good_news(answer, tone):
    assert headline(run(answer, levels=[level(1, "missed")])).tone == tone


def test_levels_beside_a_search_are_judged_after_it():
    said = headline(run(FOUND, levels=[level(0, "missed"), level(1, "met")]))
    assert said.text == "Up to 8."
    assert said.tone == "bad"
    assert "Does not hold" in said.more[0]
