"""Logarithmic buckets: 2 % wide, 1 % of error."""

import numpy as np
import pytest

from storage.buckets import bucket, bucket_us


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
