"""Twice the load until it brings no more."""

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from search.doubling import Ladder, Top, next_level


def climbed(throughput: Callable[[float], float | None], ladder: Ladder) -> tuple[list[float], str]:
    found: list[tuple[float, float | None]] = []
    while not isinstance(load := next_level(found, ladder), Top):
        found.append((load, throughput(load)))
    return [load for load, _ in found], load.why


def test_it_stops_after_the_first_step_that_gained_too_little():
    loads, why = climbed(lambda load: min(load, 10) * 50, Ladder(1, 256))
    assert loads == [1, 2, 4, 8, 16, 32]
    assert why == (
        "Throughput grew by 0.0 % from 16 to 32, less than the 5 % that a step must gain: "
        "saturated."
    )


def test_a_throughput_that_falls_is_said_to():
    assert "fell by 50.0 % from 1 to 2" in climbed(lambda load: 100 / load, Ladder(1, 256))[1]


def test_it_stops_at_the_most_that_was_asked_for():
    loads, why = climbed(lambda load: load, Ladder(3, 20))
    assert loads == [3, 6, 12, 20]
    assert why == "Throughput still grew at 20, the most that was asked for."


def test_the_last_step_is_as_long_as_there_is_room():
    assert climbed(lambda load: load, Ladder(1, 1))[0] == [1]


def test_a_level_that_completed_nothing_ends_it():
    assert climbed(lambda load: None if load > 2 else load, Ladder(1, 256)) == (
        [1, 2, 4],
        "Nothing was completed at 4.",
    )


@settings(deadline=None)
@given(st.floats(0.01, 100), st.floats(0.01, 1000), st.integers(0, 1000))
def test_loads_grow_and_never_pass_the_most(start, most, seed):
    loads, _ = climbed(lambda load: load + seed, Ladder(start, most))
    assert all(a < b <= most for a, b in pairwise(loads))
    assert loads[0] <= most
