import pytest

from analysis.search_so_far import so_far


def searching(**more):
    fresh = {"low": None, "high": None, "probes": [], "over": "concurrency"}
    return {"kind": "search", "is_done": False, **fresh, **more}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, ""),
        ({"probes": [{}]}, "nothing is clear so far"),
        ({"low": 1}, "holds at 1 stream so far"),
        ({"high": 16}, "fails at 16 streams so far"),
        ({"low": 8, "high": 16}, "holds at 8, fails at 16 streams so far"),
        ({"low": 2.5, "over": "rate_per_s"}, "holds at 2.5 requests/s so far"),
    ],
)
def test_a_search_tells_between_which_loads_the_limit_lies(known, words):
    assert so_far([searching(**known)]) == words


def test_a_sweep_by_doubling_tells_where_throughput_was_best():
    sweep = {"kind": "doubling", "is_done": False, "over": "concurrency"}
    found = [[1, 60.2], [2, 118.0], [4, None]]
    assert so_far([sweep | {"tokens_per_s": found}]) == "most tokens/s: 118 at 2 streams so far"
    assert so_far([sweep | {"tokens_per_s": []}]) == ""


def test_what_is_over_is_no_longer_so_far():
    assert so_far([searching(low=8, is_done=True)]) == ""
    assert so_far([]) == ""


def test_of_several_searches_the_one_under_way_counts():
    assert so_far([searching(low=8, is_done=True), searching(low=2)]) == "holds at 2 streams so far"
