import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import frame, never_sent, row

from analysis.in_flight import mean_in_flight


def test_two_streams_for_half_the_time_are_one_and_a_half():
    made = frame([row(0, 0, end_us=100), row(1, 50, end_us=100)])
    assert mean_in_flight(made, 0, 100) == 1.5


def test_a_stream_that_spans_the_window_counts_its_part_within():
    assert mean_in_flight(frame([row(0, 0, end_us=1_000)]), 400, 600) == 1


def test_a_request_never_sent_was_never_in_flight():
    made = frame([never_sent(0, 0, end_us=100)])
    assert mean_in_flight(made, 0, 100) == 0


@settings(max_examples=40)  # each builds a frame
@given(
    st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 500)), max_size=20),
    st.integers(0, 600),
    st.integers(1, 600),
)
def test_the_sweep_equals_the_sum_of_overlaps(spans, begin, length):
    made = frame([row(i, sent, end_us=sent + took) for i, (sent, took) in enumerate(spans)])
    end = begin + length
    overlaps = sum(max(0, min(s + t, end) - max(s, begin)) for s, t in spans)
    assert mean_in_flight(made, begin, end) == pytest.approx(overlaps / length, abs=1e-6)
