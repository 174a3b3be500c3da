"""Lengths follow the distribution that the plan names."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from loadgen.lengths import draw
from loadgen.plan_lengths import Length

N = 50_000


def length(raw):
    return TypeAdapter(Length).validate_python(raw)


def drawn(raw, n=N):
    return draw(length(raw), np.random.default_rng(1), n)


def test_a_number_is_the_length_of_each():
    assert set(drawn(256, 10)) == {256}


def test_uniform_lengths_reach_both_ends_and_have_their_mean():
    got = drawn({"kind": "uniform", "low": 10, "high": 20})
    assert (got.min(), got.max()) == (10, 20)
    assert got.mean() == pytest.approx(15, abs=0.1)


def test_normal_lengths_have_mean_and_spread_and_are_clipped():
    got = drawn({"kind": "normal", "mean": 500, "sd": 50})
    assert got.mean() == pytest.approx(500, abs=2)
    assert got.std() == pytest.approx(50, rel=0.02)
    clipped = drawn({"kind": "normal", "mean": 5, "sd": 50, "low": 2, "high": 30})
    assert (clipped.min(), clipped.max()) == (2, 30)


def test_lognormal_lengths_have_their_median_and_never_leave_what_a_prompt_may_be():
    got = drawn({"kind": "lognormal", "median": 300, "sigma": 0.8})
    assert np.median(got) == pytest.approx(300, rel=0.02)
    assert np.log(got).std() == pytest.approx(0.8, rel=0.02)
    assert drawn({"kind": "lognormal", "median": 1000, "sigma": 5}).max() <= 1_000_000


def test_lengths_from_a_file_are_drawn_from_its_numbers_alone():
    source = length({"kind": "file", "path": "x"})
    got = draw(source, np.random.default_rng(1), N, np.array([3, 3, 3, 9]))
    assert set(got) == {3, 9}
    assert (got == 3).mean() == pytest.approx(0.75, abs=0.01)
