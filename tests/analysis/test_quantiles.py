import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.quantiles import intervals, is_thin, need_n, percentile, ranks

SAMPLES = arrays("float64", st.integers(1, 60), elements=st.floats(0, 1e6))
SHARE = st.floats(0.001, 0.999)


@pytest.mark.parametrize(
    ("n", "p", "low", "high"),
    [
        (100, 0.95, 90, 100),
        (100, 0.99, 97, 101),  # 101: no upper bound
        (368, 0.99, 360, 368),
        (1000, 0.95, 936, 964),
        (1000, 0.99, 983, 997),
        (5000, 0.99, 4936, 4964),
    ],
)
def test_the_ranks_of_an_interval_are_those_of_the_binomial_table(n, p, low, high):
    found_low, found_high = ranks(n, np.array([p]))
    assert (found_low[0], found_high[0]) == (low, high)


@pytest.mark.parametrize(("p", "n"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)])
def test_need_n_is_the_first_n_with_an_upper_bound(p, n):
    assert need_n(p) == n
    for size, has_bound in ((n, True), (n - 1, False)):
        _, high = ranks(size, np.array([p]))
        assert (high[0] <= size) == has_bound


@settings(max_examples=50)
@given(SAMPLES, SHARE)
def test_a_percentile_is_numpys_linear_one_and_lies_within_the_samples(samples, p):
    found = percentile(samples, p)
    assert found == pytest.approx(np.percentile(samples, 100 * p), rel=1e-9, abs=1e-9)
    assert samples.min() <= found <= samples.max()


@settings(max_examples=50)
@given(SAMPLES, SHARE, SHARE)
def test_percentiles_never_fall(samples, p, q):
    low, high = sorted((p, q))
    assert percentile(samples, low) <= percentile(samples, high) * (1 + 1e-12)


def test_no_samples_have_no_percentile_and_no_interval():
    nothing = np.array([np.nan, np.nan])
    assert percentile(nothing, 0.5) is None
    assert intervals(nothing, [0.5])[0].as_list() == [None, None]


def test_nan_is_no_sample():
    assert percentile(np.array([1.0, np.nan, 3.0]), 0.5) == 2.0


def test_a_percentile_between_an_answer_and_a_failure_is_a_failure():
    assert percentile(np.array([1.0, 2.0, np.inf, np.inf]), 0.5) == np.inf
    assert percentile(np.array([1.0, 2.0, np.inf]), 0.5) == 2.0
    assert percentile(np.array([np.inf, np.inf]), 0.3) == np.inf


@settings(max_examples=50)
@given(SAMPLES, SHARE)
def test_an_interval_encloses_a_percentile_that_the_samples_can_carry(samples, p):
    assume(not is_thin(len(samples), max(p, 1 - p)))
    bounds = intervals(samples, [p])[0]
    low, high = bounds.low, bounds.high
    assert low is None or low <= percentile(samples, p) + 1e-9
    assert high is None or high >= percentile(samples, p) - 1e-9


def test_intervals_cover_the_true_percentile_at_least_as_often_as_they_promise():
    draw = np.random.default_rng(1)
    true = np.exp(0.5 * 1.6448536269514722)  # p95 of lognormal(0, 0.5)
    runs = [intervals(draw.lognormal(0, 0.5, 100), [0.95])[0] for _ in range(500)]
    covered = [r.low <= true and (r.high is None or true <= r.high) for r in runs]
    assert np.mean(covered) >= 0.95


def test_p95_of_19_and_p99_of_99_are_thin():
    assert is_thin(19, 0.95)
    assert not is_thin(20, 0.95)
    assert is_thin(99, 0.99)
    assert not is_thin(100, 0.99)


@given(SAMPLES, SHARE, st.floats(0, 1))
def test_however_few_the_samples_are_worth_the_interval_holds_the_percentile(values, p, share):
    (found,) = intervals(values, [p], [max(share * len(values), 1)])
    middle = percentile(values, p)
    assert found.low is None or found.low <= middle + 1e-9 * abs(middle)
    assert found.high is None or found.high >= middle - 1e-9 * abs(middle)
