"""Each shape of a plan as the curve it means."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen import plan_shapes
from loadgen.plan_parts import PlanError
from loadgen.plan_shapes import Day, Ramp, Spike, Steps, Table
from loadgen.shapes import SHAPES, curve, read_points


def at(made, *seconds):
    return made.value([round(t * 1e9) for t in seconds]).tolist()


def test_a_number_is_a_level_load_and_may_be_without_end():
    assert at(curve(7, 60), 0, 59, 60) == [7, 7, 0]
    assert at(curve(0.5, None), 0, 1e9) == [0.5, 0.5]


def test_a_ramp_is_straight():
    made = curve(Ramp(start=10, end=30), 100)
    assert at(made, 0, 25, 75) == [10, 15, 25]
    assert made.areas()[-1] == pytest.approx(2000)


def test_steps_have_equal_parts_of_the_stage():
    assert at(curve(Steps(values=[1, 4, 2]), 30), 0, 9.9, 10, 19.9, 20, 29.9) == [1, 1, 4, 4, 2, 2]


def test_a_spike_jumps_up_and_down_again():
    made = curve(Spike(base=2, peak=20, at_s=10, for_s=5), 60)
    assert at(made, 9.9, 10, 14.9, 15, 59) == [2, 20, 20, 2, 2]


def test_a_spike_may_last_to_the_end_but_not_begin_after_it():
    assert at(curve(Spike(base=2, peak=20, at_s=50, for_s=30), 60), 49, 59) == [2, 20]
    with pytest.raises(PlanError, match="never comes"):
        curve(Spike(base=2, peak=20, at_s=60, for_s=30), 60)


def test_a_day_has_its_top_at_the_peak_hour_and_its_low_twelve_hours_away():
    made = curve(Day(low=2, high=10, peak_hour=14), 240)  # ten seconds are an hour
    assert at(made, 140, 20, 80) == pytest.approx([10, 2, 6])
    assert made.areas()[-1] == pytest.approx(6 * 240)


@given(st.floats(0, 239.99), st.floats(0, 23.9))
def test_the_pieces_of_a_day_follow_the_cosine(t, peak_hour):
    made = curve(Day(low=1, high=3, peak_hour=peak_hour), 240)
    cosine = 2 + math.cos(math.tau * (t / 240 - peak_hour / 24))
    assert at(made, t)[0] == pytest.approx(cosine, abs=3e-5 * 2)


def test_a_table_is_straight_between_its_points_and_level_outside_of_them():
    made = curve(Table(points=[(10, 5), (20, 15), (20, 1)]), 60)
    assert at(made, 0, 10, 15, 20, 59) == [5, 5, 10, 1, 1]


def test_points_after_the_end_of_the_stage_are_cut_off():
    made = curve(Table(points=[(0, 0), (100, 100)]), 50)
    assert made.end_ns == 50_000_000_000
    assert at(made, 25, 49.999) == pytest.approx([25, 49.999])


def test_a_table_may_lie_in_a_csv_file_with_a_header_or_none(tmp_path):
    for text in (
        "t_s,rate\n0,1\n60,5\n",
        "0;1\r\n# lunch\r\n\r\n60;5",
        "\ufeff0\t1\n60\t5\tnoon\n",
    ):
        (tmp_path / "load.csv").write_text(text, encoding="utf-8")
        assert read_points(tmp_path / "load.csv") == [(0, 1), (60, 5)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,1\n60\n", "line 2, is '60'; expected a second and a value"),
        ("t,rate\nx,y\n", "line 2, is 'x,y'"),
        ("t,rate\n60,12,5\n", "line 2, is '60,12,5'"),  # 12.5, as some countries write it
        ("", "holds no points"),
        ("0,1\n60,-5\n", "has the value -5 at 60 s"),
        ("0,1\n60,nan\n", "has the value nan at 60 s"),
        ("-1,1\n", "has a point at -1 s"),
        ("0,1\n60,2\n30,2\n", "a point at 30 s after one at 60 s"),
    ],
)
def test_a_file_that_is_no_table_is_said_to_be_none(tmp_path, text, sentence):
    path = tmp_path / "load.csv"
    path.write_text(text)
    with pytest.raises(PlanError, match=sentence) as raised:
        curve(Table(file=str(path)), 60)
    assert "load.csv" in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PlanError, match="cannot be read"):
        curve(Table(file=str(tmp_path / "none.csv")), 60)


def test_every_shape_of_a_plan_has_a_curve_and_is_in_the_docs():
    known = {shape.model_fields["shape"].default for shape in (Ramp, Steps, Spike, Day, Table)}
    assert set(SHAPES) == known == set(plan_shapes.TAGS) - {"constant", "fixed"}


@given(st.floats(0.001, 86_400), st.floats(0, 100), st.floats(0, 100))
def test_a_curve_ends_with_its_stage(seconds, a, b):
    shapes = [Ramp(start=a, end=b), Steps(values=[a, b]), Day(low=a, high=b), 3.0]
    shapes += [Table(points=[(0.5, a), (70, b)]), Spike(base=a, peak=b, at_s=0, for_s=50)]
    for shape in shapes:
        made = curve(shape, seconds)
        assert made.end_ns == round(seconds * 1e9)
        assert np.all(np.diff(made.at_ns) > 0)
        assert min(made.left.min(), made.right.min()) >= 0
