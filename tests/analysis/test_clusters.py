import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.clusters import Shares, block_seconds, blocks, levels, share_interval, worth


def shares(of_request, gaps, limits):
    """Clusters of gaps by request, as the store tells them."""
    n = np.bincount(of_request).astype(float)
    counted = [np.bincount(of_request, weights=gaps <= limit) for limit in limits]
    return Shares(n, np.column_stack(counted))


def test_independent_gaps_are_worth_about_as_many_as_there_are():
    draw = np.random.default_rng(1)
    of_request = np.repeat(np.arange(2000), 10)
    found = worth(shares(of_request, draw.random(20_000), [0.5, 0.9]))
    assert found == pytest.approx([20_000, 20_000], rel=0.12)


def test_gaps_that_are_one_value_per_request_are_worth_one_each():
    draw = np.random.default_rng(2)
    of_request = np.repeat(np.arange(2000), 10)
    found = worth(shares(of_request, np.repeat(draw.random(2000), 10), [0.5, 0.9]))
    assert found == pytest.approx([2000, 2000], rel=0.1)


def test_a_tail_of_a_few_requests_is_worth_less_than_their_number_says():
    slow = np.zeros(200)
    slow[:2] = 10.0  # of 10 gaps each
    found = worth(Shares(np.full(200, 10.0), np.column_stack([10.0 - slow])))
    assert found[0] < 150  # 20 of 2,000 gaps: without doubt about their variance it were 200


def test_gaps_all_alike_tell_nothing_of_how_they_scatter():
    assert np.isinf(worth(Shares(np.full(9, 10.0), np.full((9, 1), 10.0)))).all()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_few_clusters_have_no_worth(n):
    assert worth(Shares(np.full(n, 10.0), np.full((n, 1), 5.0))) is None


def test_blocks_hold_all_gaps_of_what_was_asked_in_them():
    of = Shares(np.array([1.0, 2, 3, 4]), np.array([[1.0], [0], [3], [1]]))
    found = blocks(of, np.array([100.0, 104.9, 105.1, 117.0]), 5)
    assert found.n.tolist() == [3, 3, 4]
    assert found.counted[:, 0].tolist() == [1, 3, 1]


def test_a_block_is_five_seconds_or_twice_a_median_answer():
    assert block_seconds(1.0) == 5
    assert block_seconds(8.0) == 16


def test_levels_enclose_the_percentile_and_end_where_too_few_gaps_are_behind():
    low, high = levels(1000, 0.95)
    assert (low, high) == (0.936, 0.963)  # ranks 936 and 964 of 1,000
    low, high = levels(100, 0.99)
    assert (low, high) == (0.97, None)
    assert levels(1, 0.5) == (None, None)


@pytest.mark.parametrize(("hits", "n"), [(0, 50), (3, 50), (50, 50)])
def test_the_interval_of_a_share_is_clopper_and_pearsons(hits, n):
    expected = binomtest(hits, n).proportion_ci(0.95, "exact")
    assert share_interval(hits / n, n) == pytest.approx((expected.low, expected.high))
