"""Bounds that may be looked at after each request: their error rate, exactly and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.binomial import at_least, at_most, verdict
from search.running import (
    Look,
    Rule,
    clear_at,
    running_at_least,
    running_at_most,
    running_needed,
    running_verdict,
)

CONFIDENCE = 0.95
P95 = 95
RULE = Rule(P95, CONFIDENCE, CONFIDENCE)
N = 600  # requests, with a look after each
counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.floats(0, n)))


def ever_held(says, share: float) -> float:
    """The exact probability that says(n, misses) is true after any of the first N requests.

    says is true up to some number of misses, which grows with n.
    """
    still, said, up_to = np.array([1.0]), 0.0, -1
    for n in range(1, N + 1):
        still = np.append(still * (1 - share), 0) + np.append(0, still * share)
        while says(n, up_to + 1):
            up_to += 1
        said += still[: up_to + 1].sum()
        still[: up_to + 1] = 0
    return said


def ever_failed(says, share: float) -> float:
    """The same of a verdict that is true from some number of misses on."""
    return ever_held(lambda n, hits: says(n, n - hits), 1 - share)


def holds(n, misses):
    return running_verdict(n, misses, P95, CONFIDENCE) == "holds"


def fails(n, misses):
    return running_verdict(n, misses, P95, CONFIDENCE) == "fails"


def test_at_the_limit_neither_answer_is_ever_given_in_more_than_one_case_of_twenty():
    assert 0.01 < ever_held(holds, 0.05) <= 1 - CONFIDENCE
    assert 0.01 < ever_failed(fails, 0.05) <= 1 - CONFIDENCE


def test_beyond_the_limit_the_wrong_answer_is_rarer_still():
    assert ever_held(holds, 0.06) < ever_held(holds, 0.05)
    assert ever_failed(fails, 0.04) < ever_failed(fails, 0.05)


def test_the_bound_for_one_look_is_broken_by_looking_often():
    """Why the running bounds exist."""

    def held(n, misses):
        return verdict(n, misses, P95, CONFIDENCE) == "holds"

    assert ever_held(held, 0.05) > 3 * (1 - CONFIDENCE)


def test_a_simulated_level_at_its_limit_is_misjudged_no_more_often_than_promised():
    rng = np.random.default_rng(1)
    said = [clear_at((rng.random(N) < 0.05).tolist(), RULE).verdict for _ in range(600)]
    assert 0.01 < said.count("holds") / len(said) <= 0.05
    assert 0.01 < said.count("fails") / len(said) <= 0.05


def test_requests_that_are_late_in_part_keep_the_promise_too():
    """A request's share of slow gaps instead of a yes or no, with the same mean."""
    rng = np.random.default_rng(2)
    said = [clear_at(rng.beta(0.1, 1.9, N).tolist(), RULE).verdict for _ in range(600)]
    assert said.count("holds") / len(said) <= 0.05
    assert said.count("fails") / len(said) <= 0.05


@pytest.mark.parametrize(("percentile", "n"), [(50, 6), (95, 74), (99, 377)])
def test_how_many_requests_within_the_limit_a_running_level_takes(percentile, n):
    assert running_needed(percentile, CONFIDENCE) == n


@settings(deadline=None)
@given(counts)
def test_bounds_enclose_what_was_seen_and_are_wider_than_those_of_one_look(counted):
    n, misses = counted
    least = running_at_least(n, misses, CONFIDENCE)
    most = running_at_most(n, misses, CONFIDENCE)
    assert 0 <= least <= misses / n <= most <= 1
    assert least <= at_least(n, int(misses), CONFIDENCE) + 1e-9 or misses != int(misses)
    assert most >= at_most(n, int(misses), CONFIDENCE) - 1e-9 or misses != int(misses)


@settings(deadline=None)
@given(counts, st.sampled_from([50.0, 90.0, 95.0, 99.0]))
def test_the_verdict_is_that_of_the_bounds(counted, percentile):
    n, misses = counted
    allowed = (100 - percentile) / 100
    most, least = running_at_most(n, misses, 0.95), running_at_least(n, misses, 0.95)
    said = running_verdict(n, misses, percentile, 0.95)
    if abs(most - allowed) > 1e-9 and abs(least - allowed) > 1e-9:
        assert (said == "holds") == (most < allowed)
        assert (said == "fails") == (least > allowed)


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(0, 300))
def test_what_is_clear_while_running_is_clear_to_who_looks_once(n, misses):
    misses = min(n, misses)
    said = running_verdict(n, misses, P95, CONFIDENCE)
    assert said in ("unclear", verdict(n, misses, P95, CONFIDENCE))


def test_requests_still_open_count_against_either_answer():
    assert clear_at([0.0] * 74, RULE) == Look("holds", 74)
    assert clear_at([0.0] * 73 + [None], RULE) == Look("unclear", 74)
    assert clear_at([0.0] * 74 + [None] * 100, RULE) == Look("holds", 74)
    assert clear_at([1.0, None, 1.0], RULE) == Look("fails", 3)
    assert clear_at([1.0, None, None], RULE) == Look("unclear", 3)


def test_what_was_clear_once_stays_so():
    """The bound holds at all numbers of requests at once, so later misses take nothing back."""
    assert clear_at([0.0] * 80 + [1.0] * 4, RULE) == Look("holds", 74)


def test_nothing_is_said_of_fewer_requests_than_asked_for():
    patient = replace(RULE, least=10)
    assert clear_at([1.0] * 9, patient) == Look("unclear", 9)
    assert clear_at([1.0] * 10, patient) == Look("fails", 10)
    assert clear_at([], RULE) == Look("unclear", 0)


def test_an_earlier_try_of_the_same_load_counts():
    again = replace(RULE, before=(60, 0.0), least=20)
    assert clear_at([0.0] * 14, again) == Look("holds", 14)
    assert clear_at([0.0] * 13, again) == Look("unclear", 13)
    assert clear_at([0.0] * 14, replace(RULE, before=(60, 1.0))) == Look("unclear", 14)


def test_without_requests_nothing_is_known():
    assert running_verdict(0, 0, P95, CONFIDENCE) == "unclear"
    assert running_at_most(0, 0, CONFIDENCE) == 1
    assert running_at_least(0, 0, CONFIDENCE) == 0
