"""A curve's area and its inverse are exact, whatever its pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.curves import Curve

values = st.one_of(st.just(0.0), st.floats(1e-6, 1e5))
lengths_ns = st.integers(1, 10**13)


@st.composite
def curves(draw):
    pieces = draw(st.lists(st.tuples(lengths_ns, values, values), min_size=1, max_size=12))
    at_ns = np.cumsum([0, *(length for length, _, _ in pieces)])
    left, right = (np.array([p[i] for p in pieces]) for i in (1, 2))
    return Curve(at_ns.astype(np.int64), left, right)


def test_points_at_one_instant_are_a_jump():
    curve = Curve.through([(0, 2), (10, 2), (10, 5), (20, 5)])
    assert curve.value([9_999_999_999, 10_000_000_000]).tolist() == [2, 5]
    assert curve.areas().tolist() == [0, 20, 70]


def test_outside_of_its_pieces_a_curve_is_nothing():
    curve = Curve.through([(0, 3), (10, 3)])
    assert curve.value([-1, 0, 10_000_000_000]).tolist() == [0, 3, 0]
    assert curve.area([-5, 20_000_000_000]).tolist() == [0, 30]


@given(curves())
def test_the_area_is_that_of_the_trapezoids(curve):
    lengths_s = np.diff(curve.at_ns) / 1e9
    whole = float(np.sum(lengths_s * (curve.left + curve.right) / 2))
    assert curve.area(curve.end_ns) == pytest.approx(whole, rel=1e-12)


@given(curves(), st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50))
def test_the_inverse_finds_the_instant_of_each_area_to_the_nanosecond(curve, shares):
    whole = float(curve.areas()[-1])
    asked = np.sort(np.array(shares)) * whole
    when = curve.when(asked)
    assert np.all(np.diff(when) >= 0)
    assert np.all((when >= 0) & (when <= curve.end_ns))
    rounding = whole * 1e-12
    assert np.all(curve.area(when) <= asked + rounding)
    assert np.all(curve.area(when + 2) >= np.minimum(asked, curve.area(curve.end_ns)) - rounding)


@pytest.mark.parametrize("slope", [0.0, 1e-13, -1e-13, 1e-7, -1e-7])
def test_the_inverse_is_as_good_next_to_a_level_load(slope):
    curve = Curve.through([(0, 10), (1000, 10 + slope * 1000)])
    assert curve.when([5000.0])[0] / 1e9 == pytest.approx(500, abs=2e-3 if slope else 1e-9)
    assert curve.area(curve.when([5000.0])) == pytest.approx(5000, rel=1e-10)


def test_while_the_load_is_nothing_no_area_falls_into_it():
    curve = Curve.through([(0, 0), (5, 0), (5, 1), (10, 1), (10, 0), (20, 0), (20, 1), (30, 1)])
    assert (curve.when([0.0, 4.0, 5.0, 6.0]) / 1e9).tolist() == [5, 9, 20, 21]


def test_a_ramp_is_above_a_level_from_its_crossing_on():
    up_and_down = Curve.through([(0, 0), (10, 10), (20, 0)])
    assert up_and_down.above(0) == [(0, 20_000_000_000)]
    assert up_and_down.above(5) == [(5_000_000_000, 15_000_000_000)]
    assert up_and_down.above(10) == []


def test_a_load_that_comes_back_is_above_twice():
    spikes = Curve.through([(0, 1), (2, 1), (2, 4), (3, 4), (3, 1), (5, 1), (5, 4), (6, 4)])
    assert spikes.above(1) == [(2_000_000_000, 3_000_000_000), (5_000_000_000, 6_000_000_000)]
    assert spikes.above(0.5) == [(0, 6_000_000_000)]


@given(curves(), st.integers(0, 20), st.floats(0, 1))
def test_spans_above_a_level_hold_just_the_instants_at_which_it_is_above(curve, level, where):
    t = round(where * curve.end_ns)
    inside = any(begin <= t < end for begin, end in curve.above(level))
    edges = [abs(t - edge) <= 1 for span in curve.above(level) for edge in span]
    value = float(curve.value(t))
    if not any(edges) and abs(value - level) > 1e-6 * max(1.0, curve.peak):
        assert inside == (value > level)
