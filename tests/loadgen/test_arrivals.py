"""Arrival processes in operational time, and on the clock of a curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.arrivals import ARRIVALS, constant, due_ns, gamma
from loadgen.curves import Curve
from loadgen.plan_shapes import Day, Ramp, Spike, Steps
from loadgen.shapes import curve

SHAPES = [
    20.0,
    Ramp(start=0, end=40),
    Steps(values=[5, 50, 0, 30]),
    Spike(base=10, peak=60, at_s=20, for_s=12),
    Day(low=4, high=36),
]


def arrivals(name, made, *, seed=1, burstiness=1.0, requests=None):
    rng = np.random.default_rng([seed, 0, 7])
    blocks = list(due_ns(ARRIVALS[name](rng, burstiness), made, requests))
    assert all(len(block) for block in blocks)
    return np.concatenate([np.zeros(0, np.int64), *blocks])


@given(
    st.sampled_from(sorted(ARRIVALS)),
    st.sampled_from(SHAPES),
    st.floats(0.1, 600),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.05, 0.5, 1.0, 7.0]),
)
def test_arrivals_are_increasing_ints_within_their_stage(name, shape, seconds, seed, burstiness):
    made = curve(Ramp(start=3, end=9) if isinstance(shape, Spike) else shape, seconds)
    due = arrivals(name, made, seed=seed, burstiness=burstiness)
    assert due.dtype == np.int64
    assert np.all(np.diff(due) > 0)
    assert not len(due) or (due[0] >= 0 and due[-1] < made.end_ns)


@pytest.mark.parametrize("name", ARRIVALS)
@pytest.mark.parametrize("shape", SHAPES)
def test_as_many_come_as_the_area_says_within_three_sigma(name, shape):
    made = curve(shape, 600.0)
    area = made.areas()[-1]
    burstiness = 0.25 if name == "gamma" else 1.0
    # Of a renewal process with gaps of mean 1 and variance v, the count in a time A has v A.
    sigma = 0 if name == "constant" else (area / burstiness) ** 0.5
    assert abs(len(arrivals(name, made, burstiness=burstiness)) - area) <= 3 * sigma + 1e-9


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_the_rate_follows_the_shape_in_each_part_of_the_stage(name):
    made = curve(Ramp(start=0, end=40), 600.0)
    due = arrivals(name, made)
    for k in range(6):
        begin, end = k * 100_000_000_000, (k + 1) * 100_000_000_000
        asked = float(made.area(end) - made.area(begin))
        assert abs(((due >= begin) & (due < end)).sum() - asked) <= 3 * asked**0.5


def test_constant_arrivals_of_a_ramp_are_one_for_each_unit_of_its_area():
    made = curve(Ramp(start=0, end=10), 10.0)
    due = arrivals("constant", made)
    assert len(due) == 50
    assert made.area(due + 1) == pytest.approx(np.arange(50), abs=1e-6)


@given(st.integers(1, 50_000), st.floats(0.5, 900))
def test_a_constant_rate_gives_just_its_count(count, seconds):
    assert len(arrivals("constant", curve(count / seconds, seconds))) == count


def test_a_constant_rate_begins_at_once_and_never_drifts():
    due = arrivals("constant", curve(3.0, 86_400.0))
    assert due[0] == 0
    assert abs(due - np.arange(len(due)) * 1e9 / 3).max() < 2


@pytest.mark.parametrize("burstiness", [0.1, 1.0, 4.0])
def test_short_stages_of_gamma_have_as_many_arrivals_as_their_area(burstiness):
    counts = [
        len(arrivals("gamma", curve(20.0, 2.0), seed=seed, burstiness=burstiness))
        for seed in range(4000)
    ]
    # Bursts of shape k scatter counts by sqrt(1/k) more than chance does.
    deviation = np.sqrt(40 / burstiness / len(counts))
    assert np.mean(counts) == pytest.approx(40, abs=4 * deviation)


def test_gamma_of_shape_one_begins_as_poisson_does():
    first = [next(gamma(np.random.default_rng(seed), 1.0))[0] for seed in range(20_000)]
    assert np.mean(first) == pytest.approx(1, abs=0.03)
    assert np.std(first) == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize("burstiness", [0.1, 0.5, 1.0, 4.0])
def test_gaps_vary_as_the_burstiness_says(burstiness):
    due = arrivals("gamma", curve(1000.0, 100.0), burstiness=burstiness)
    gaps = np.diff(due)
    assert gaps.std() / gaps.mean() == pytest.approx(burstiness**-0.5, rel=0.05)


@pytest.mark.parametrize("name", ARRIVALS)
def test_the_same_seed_gives_the_same_arrivals_and_another_seed_others(name):
    made = curve(20.0, 60.0)
    assert np.array_equal(arrivals(name, made), arrivals(name, made))
    differs = not np.array_equal(arrivals(name, made), arrivals(name, made, seed=2))
    assert differs == (name != "constant")


@given(st.integers(1, 20_000))
def test_a_number_of_requests_ends_them_too(requests):
    endless = curve(100.0, None)
    assert len(arrivals("poisson", endless, requests=requests)) == requests


def test_arrivals_on_one_nanosecond_are_put_one_apart():
    wall = Curve.through([(0, 1), (1, 1), (1, 1e12), (1.00000001, 1e12)])
    due = arrivals("constant", wall, requests=8)
    assert due.tolist()[1:] == list(range(1_000_000_000, 1_000_000_007))


def test_no_load_has_no_arrivals():
    assert len(arrivals("poisson", curve(Ramp(start=0, end=0), 60.0))) == 0


def test_constant_arrivals_count_on_from_block_to_block():
    made = constant(np.random.default_rng(1), 1.0)
    assert np.concatenate([next(made), next(made)]).tolist() == list(range(8192))
