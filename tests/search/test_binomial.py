"""Bounds of a share that is counted once: against scipy's own exact test, and known figures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from search.binomial import at_least, at_most, requests_needed, verdict

counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
sure = st.sampled_from([0.8, 0.95, 0.99])


@settings(deadline=None)
@given(counts, sure)
def test_bounds_are_those_of_scipys_exact_test(counted, confidence):
    n, misses = counted
    below = binomtest(misses, n, alternative="less").proportion_ci(confidence, method="exact")
    above = binomtest(misses, n, alternative="greater").proportion_ci(confidence, method="exact")
    assert at_most(n, misses, confidence) == pytest.approx(below.high)
    assert at_least(n, misses, confidence) == pytest.approx(above.low)


@pytest.mark.parametrize(
    ("percentile", "confidence", "n"),
    [(95, 0.95, 59), (99, 0.95, 299), (50, 0.95, 5), (95, 0.99, 90)],
)
def test_the_fewest_requests_that_can_show_a_percentile(percentile, confidence, n):
    assert requests_needed(percentile, confidence) == n
    assert verdict(n, 0, percentile, confidence) == "holds"
    assert verdict(n - 1, 0, percentile, confidence) == "unclear"
    assert verdict(n, 1, percentile, confidence) == "unclear"


@settings(deadline=None)
@given(counts, sure)
def test_a_verdict_says_on_which_side_of_the_limit_both_bounds_lie(counted, confidence):
    n, misses = counted
    said = verdict(n, misses, 90, confidence)
    assert (said == "holds") == (at_most(n, misses, confidence) <= 0.1)
    assert (said == "fails") == (at_least(n, misses, confidence) > 0.1)


def test_without_requests_nothing_is_said():
    assert verdict(0, 0, 95, 0.95) == "unclear"
    assert at_most(0, 0, 0.95) == 1
    assert at_least(0, 0, 0.95) == 0


def test_a_level_that_always_fails_is_clear_after_few_requests():
    assert verdict(2, 2, 95, 0.95) == "fails"
