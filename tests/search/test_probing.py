"""The search's next step for what was found, and whole searches over servers made of a curve."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.answer import answer_of
from search.probing import MOST_TIMES, Bounds, Found, Probe, ProbeResult, Tally, next_probe
from search.running import Rule, clear_at

CONFIDENCE = 0.95
WHOLE = Bounds(1, 64)
RATE = Bounds(0.5, 40, is_whole=False)


def result(value: float, n: int, misses: float, *more: tuple[int, float]) -> ProbeResult:
    counted = [(n, misses), *more]
    return ProbeResult(value, tuple(Tally(f"objective {i}", 95, *c) for i, c in enumerate(counted)))


def good(value: float) -> ProbeResult:
    return result(value, 100, 0)


def bad(value: float) -> ProbeResult:
    return result(value, 100, 50)


def unclear(value: float) -> ProbeResult:
    return result(value, 2000, 100)


ALL = (good, bad, unclear)


def searched(truth: Callable[[float], ProbeResult], bounds: Bounds) -> tuple[list[float], Found]:
    """Loads probed, in order, and the end; truth tells what a probe shows."""
    found: list[ProbeResult] = []
    while isinstance(probe := next_probe(found, bounds), Probe):
        assert bounds.low <= probe.value <= bounds.high
        found.append(truth(probe.value))
        assert len(found) < 60
    return [probe.value for probe in found], probe


def step_at(last_good: float) -> Callable[[float], ProbeResult]:
    return lambda value: good(value) if value <= last_good else bad(value)


def test_it_doubles_until_a_load_fails_and_then_halves_the_rest():
    values, end = searched(step_at(14), WHOLE)
    assert values == [1, 2, 4, 8, 16, 12, 14, 15]
    assert (end.holds_to, end.fails_from) == (14, 15)


@settings(deadline=None)
@given(st.integers(1, 63))
def test_the_largest_whole_load_is_found_exactly_where_the_tolerance_allows_no_less(last_good):
    _, end = searched(step_at(last_good), Bounds(1, 64, tolerance=0.001))
    assert (end.holds_to, end.fails_from) == (last_good, last_good + 1)


@settings(deadline=None)
@given(st.floats(0.5, 39.9), st.floats(0.01, 0.5))
def test_a_rate_is_found_to_within_the_tolerance(last_good, tolerance):
    _, end = searched(step_at(last_good), Bounds(0.5, 40, is_whole=False, tolerance=tolerance))
    assert end.holds_to is not None
    assert end.fails_from is not None
    assert end.holds_to <= last_good < end.fails_from <= end.holds_to * (1 + tolerance) + 1e-9


@settings(deadline=None)
@given(st.integers(1, 64), st.integers(0, 64))
def test_a_hint_is_tried_first_and_changes_no_answer(hint, last_good):
    bounds = Bounds(1, 64, tolerance=0.001, hint=hint)
    values, end = searched(step_at(last_good), bounds)
    assert values[0] == hint
    assert end.holds_to == (last_good or None)


def test_a_tolerance_ends_the_search_earlier():
    values, _ = searched(step_at(50), Bounds(1, 64, tolerance=0.2))
    assert values == [1, 2, 4, 8, 16, 32, 64, 48, 56]


def test_it_stops_at_the_lowest_load_where_that_fails():
    values, end = searched(bad, WHOLE)
    assert values == [1]
    assert end.holds_to is None
    assert end.fails_from == 1


def test_it_stops_at_the_highest_load_where_all_hold():
    values, end = searched(good, Bounds(1, 40))
    assert values == [1, 2, 4, 8, 16, 32, 40]
    assert (end.holds_to, end.fails_from) == (40, None)


def test_one_load_alone_is_a_search_too():
    assert searched(good, Bounds(8, 8))[0] == [8]
    assert searched(bad, Bounds(8, 8))[0] == [8]


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_whatever_is_seen_it_ends_within_the_bounds_and_tries_no_load_needlessly(seed):
    """Verdicts at random, unclear ones among them: monotone or not, it comes to an end."""
    rng = np.random.default_rng(seed)

    def anything(value: float) -> ProbeResult:
        return ALL[rng.integers(3)](value)

    for bounds in (WHOLE, RATE, Bounds(3, 50, hint=20), Bounds(1, 1000, tolerance=0.3)):
        values, end = searched(anything, bounds)
        assert max(values.count(value) for value in values) <= MOST_TIMES
        settled = [t.value for t in end.tried if t.verdict != "unclear" and t.times == 1]
        assert all(values.count(value) == 1 for value in settled)


def test_a_load_that_is_not_clear_is_tried_again_and_all_its_requests_count():
    found = [good(1), result(2, 60, 0)]
    again = next_probe(found, Bounds(1, 64, most_requests=2000))
    assert isinstance(again, Probe)
    assert (again.value, again.most_requests) == (2, 1940)
    then = next_probe([*found, result(2, 60, 0)], WHOLE)
    assert isinstance(then, Probe)
    assert then.value == 4


def test_it_is_not_tried_again_where_that_could_not_make_it_clear():
    """5 % of 2,000 requests are over the limit of a p95: 6,000 would not do either."""
    probe = next_probe([good(1), good(2), unclear(4)], WHOLE)
    assert isinstance(probe, Probe)
    assert probe.value == 8


def test_it_is_not_tried_again_beyond_the_most_requests_asked_for():
    probe = next_probe([good(1), result(2, 60, 0)], Bounds(1, 2, most_requests=60))
    assert isinstance(probe, Found)


def test_a_probe_without_a_single_request_is_neither_repeated_nor_followed_by_more_load():
    end = next_probe([result(1, 0, 0)], WHOLE)
    assert isinstance(end, Found)
    assert end.tried[0].verdict == "unclear"


def test_what_cannot_be_told_widens_the_interval():
    def truth(value: float) -> ProbeResult:
        return good(value) if value <= 8 else unclear(value) if value < 16 else bad(value)

    values, end = searched(truth, WHOLE)
    assert values == [1, 2, 4, 8, 16, 12, 10, 9]
    assert (end.holds_to, end.fails_from) == (8, 16)


def test_a_load_that_cannot_be_told_does_not_end_the_search():
    """One stream may bring too few requests; if two hold, so does one."""

    def truth(value: float) -> ProbeResult:
        return result(1, 40, 2) if value == 1 else step_at(6)(value)

    values, end = searched(truth, Bounds(1, 64, most_requests=40))
    assert values == [1, 2, 4, 8, 6, 7]
    assert (end.holds_to, end.fails_from) == (6, 7)


def test_one_objective_that_fails_is_enough_and_all_must_hold():
    def of(*counted: tuple[int, float]) -> str:
        end = next_probe([result(1, *counted[0], *counted[1:])], Bounds(1, 1, most_requests=1))
        assert isinstance(end, Found)
        return end.tried[0].verdict

    assert of((100, 0), (100, 0)) == "holds"
    assert of((100, 0), (100, 50)) == "fails"
    assert of((100, 0), (10, 0)) == "unclear"


def test_of_two_objectives_each_must_be_surer_to_fail():
    alone, beside = result(1, 16, 4.6), result(1, 16, 4.6, (16, 0))
    once = Bounds(1, 1, most_requests=1)
    ends = [next_probe([found], once) for found in (alone, beside)]
    assert [end.tried[0].verdict for end in ends if isinstance(end, Found)] == ["fails", "unclear"]


def test_loads_that_hold_above_one_that_fails_are_not_relied_on():
    end = next_probe([good(1), bad(2), good(4)], WHOLE)
    assert isinstance(end, Found)
    assert (end.holds_to, end.fails_from, end.is_monotone) == (1, 2, False)


SERVERS = {  # load -> share of requests over the limit of a p95; the largest load that holds is 22
    "a cliff": lambda load: 0.005 if load <= 22 else 0.4,
    "a slope": lambda load: min(1.0, 0.05 * (load / 22.5) ** 3),
    "a gentle slope": lambda load: min(1.0, 0.05 * load / 22.5),
}


@pytest.mark.parametrize("server", SERVERS)
def test_verdicts_are_right_as_often_as_promised_and_so_is_the_interval(server):
    """A probe looks after each answer and ends when it is clear, as a run does."""
    rng = np.random.default_rng(3)
    truth = SERVERS[server]

    def probe(value: float) -> ProbeResult:
        missed = (rng.random(1000) < truth(value)).astype(float).tolist()
        n = clear_at(missed, Rule(95, CONFIDENCE, CONFIDENCE)).n
        return result(value, n, sum(missed[:n]))

    ends = [searched(probe, WHOLE)[1] for _ in range(40)]
    given = [t for end in ends for t in end.tried if t.verdict != "unclear"]
    wrong = [t for t in given if (t.verdict == "holds") != (truth(t.value) <= 0.05)]
    assert len(wrong) / len(given) <= 1 - CONFIDENCE
    around = [
        (end.holds_to or 0) <= 22 and (end.fails_from is None or end.fails_from > 22)
        for end in ends
    ]
    assert sum(around) / len(ends) >= 0.9
    if server == "a cliff":
        assert {(end.holds_to, end.fails_from) for end in ends} == {(22, 24)}


def test_the_figures_of_an_answer_are_those_of_the_search():
    found = [good(1), good(2), bad(4), bad(3)]
    answer = answer_of(found, WHOLE, "concurrency")
    assert (answer.value, answer.low, answer.high, answer.end) == (2, 2, 3, "between")
    assert [tried.value for tried in answer.probes] == [1, 2, 3, 4]
