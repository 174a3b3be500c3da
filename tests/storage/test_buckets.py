"""Logarithmic buckets: 2 % wide, 1 % of error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.buckets import N_BUCKETS, bucket, bucket_of_share, bucket_us


def test_the_first_buckets_are_zero_and_one_microsecond():
    assert bucket([0, 1, 2]).tolist() == [0, 1, 37]
    assert bucket_us(0) == 0.0


def test_a_negative_duration_falls_into_bucket_zero():
    assert bucket([-1]).tolist() == [0]


def test_a_buckets_value_is_within_one_percent_of_any_duration_in_it():
    us = np.unique(np.geomspace(1, 3_600_000_000, 40_000).astype(np.int64))
    value = np.array([bucket_us(b) for b in bucket(us).tolist()])
    assert np.max(np.abs(value / us - 1)) <= 0.01


def test_buckets_rise_with_the_duration():
    us = np.unique(np.geomspace(1, 3_600_000_000, 40_000).astype(np.int64))
    assert np.all(np.diff(bucket(us)) >= 0)


def test_a_scalar_is_a_duration_too():
    assert int(bucket(1000)) == bucket([1000]).tolist()[0]


@pytest.mark.parametrize("b", [1, 2, 100, 1000])
def test_a_buckets_value_lies_in_the_bucket(b: int):
    low, high = 1.02 ** (b - 2), 1.02 ** (b - 1)
    assert low < bucket_us(b) <= high


QS = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sigmas=st.lists(st.floats(0.05, 3.0), min_size=1, max_size=4),
    median_us=st.sampled_from((40, 9_500, 700_000)),
)
def test_percentiles_of_merged_histograms_are_within_one_percent(seed, sigmas, median_us):
    rng = np.random.default_rng(seed)
    runs = [rng.lognormal(np.log(median_us), s, 20_000).astype(np.int64) for s in sigmas]
    merged = sum(np.bincount(bucket(run), minlength=N_BUCKETS) for run in runs)
    upto = np.cumsum(merged)
    exact = np.quantile(np.concatenate(runs), QS, method="inverted_cdf")
    places = np.searchsorted(upto, np.ceil(np.array(QS) * upto[-1]))
    told = [bucket_us(int(b)) for b in places]
    assert told == pytest.approx(exact.tolist(), rel=0.01)


@given(st.lists(st.integers(0, 2**40), min_size=2000, max_size=2000))
@settings(max_examples=5, deadline=None)
def test_the_table_of_buckets_says_what_the_logarithm_says(us):
    near = np.r_[us, np.arange((1 << 18) - 500, (1 << 18) + 500)]
    assert (bucket(near) == bucket_of_share(near)).all()
