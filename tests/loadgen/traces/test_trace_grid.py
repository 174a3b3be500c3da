"""Times that were rounded to steps before the trace was published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.traces.grid import grid_step_s, room_after, spread


def rows(steps, per_step, step_s, jitter_s=0.0, seed=1):
    """`per_step` rows at each of `steps`; each step's time is off by up to `jitter_s`."""
    rng = np.random.default_rng(seed)
    at_s = np.array(steps) * step_s + rng.uniform(-jitter_s, jitter_s, len(steps))
    return np.sort(np.repeat(at_s - at_s.min(), per_step))


def test_bursts_every_3_s_off_by_some_ms_are_a_grid_of_3_s():
    assert grid_step_s(rows(range(1180), 10, 3.0, 0.003)) == pytest.approx(3.0, abs=0.002)


def test_empty_steps_do_not_hide_a_grid():
    steps = [i for i in range(200) if i % 7 not in (2, 3) and i % 11]
    assert grid_step_s(rows(steps, 4, 3.0, 0.003)) == pytest.approx(3.0, abs=0.002)


def test_whole_seconds_of_a_busy_trace_are_a_grid():
    t_s = np.floor(np.sort(np.random.default_rng(2).uniform(0, 1000, 1500)))
    assert grid_step_s(t_s) == 1.0


@pytest.mark.parametrize(
    "t_s",
    [
        np.zeros(50),
        np.repeat([0.0, 3.0], 20),
        np.sort(np.random.default_rng(3).uniform(0, 100, 500)),
        np.repeat(np.sort(np.random.default_rng(4).uniform(0, 100, 500)), 3),
        np.arange(100) * 0.5,
        np.repeat(np.arange(500) * 0.001, 5),
    ],
    ids=["one instant", "two instants", "random", "random pairs", "steady", "fine"],
)
def test_other_times_are_on_no_grid(t_s):
    assert grid_step_s(t_s) is None


@given(st.integers(2, 60), st.integers(2, 12), st.floats(0.2, 60), st.integers(0, 2**32))
def test_spread_rows_stay_within_their_step_and_in_order(n_steps, per_step, step_s, seed):
    t_s = rows(range(n_steps + 1), per_step, step_s, step_s / 1000)
    found = grid_step_s(t_s)
    assert found == pytest.approx(step_s, rel=0.01)
    moved = spread(t_s, found, np.random.default_rng(seed).random(len(t_s)))
    assert (np.diff(moved) >= 0).all()
    assert (moved >= t_s).all()
    assert (moved <= t_s + room_after(t_s, found) + 1e-9).all()


def test_spread_rows_fill_the_step_evenly():
    t_s = rows(range(2000), 5, 3.0)
    phase = (spread(t_s, 3.0, np.random.default_rng(7).random(len(t_s))) - t_s) / 3.0
    counts, _ = np.histogram(phase, bins=10, range=(0, 1))
    assert np.abs(counts - 1000).max() < 4 * 1000**0.5


def test_the_room_after_a_row_ends_with_the_next_later_one():
    assert room_after(np.array([0.0, 0.0, 2.0, 5.0]), 9.0).tolist() == [2, 2, 3, 9]
