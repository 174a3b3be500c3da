"""The offset of another host's clock, and how far from the truth it may be."""

from hypothesis import given
from hypothesis import strategies as st

from loadgen.machines.clock_offset import ClockOffset, Offset, RoundTrip

SECOND_NS = 1_000_000_000
ways = st.integers(0, 2 * SECOND_NS)


@given(
    true_offset=st.integers(-(10**18), 10**18),
    there=ways,
    thinking=ways,
    back=ways,
)
def test_the_true_offset_lies_within_the_error_however_unequal_the_ways(
    true_offset, there, thinking, back
):
    asked = 5 * SECOND_NS
    got = asked + there + true_offset
    trip = RoundTrip(asked, got, got + thinking, asked + there + thinking + back)
    assert abs(trip.offset_ns - true_offset) <= trip.error_ns + 1  # 1 ns: half of an odd number
    assert trip.error_ns == -(-(there + back) // 2)


def test_the_shortest_round_trip_is_believed():
    clock = ClockOffset()
    clock.add(RoundTrip(0, 100 + 900, 100 + 900, 1000))  # all of its time went on the way there
    clock.add(RoundTrip(2000, 2000 + 100 + 10, 2000 + 100 + 10, 2020))
    clock.add(RoundTrip(4000, 100 + 4000, 100 + 4000, 4800))
    assert clock.at(4800) == Offset(offset_ns=100, error_ns=10)


def test_an_old_round_trip_loses_its_worth_to_a_fresh_one():
    clock = ClockOffset()
    clock.add(RoundTrip(0, 5, 5, 10))
    later = 20 * SECOND_NS
    clock.add(RoundTrip(later, later + 200_000, later + 200_000, later + 200_000))
    offset = clock.at(later + 200_000)
    assert offset == Offset(offset_ns=100_000, error_ns=100_000)  # not 5 ns + 20 s of drift


def test_no_round_trip_tells_no_offset():
    assert ClockOffset().at(0) is None
