import numpy as np
import pytest
from made import SECOND, back_to_back, frame, never_sent, row, stage

from analysis.throughput import offered_rate, request_rate
from analysis.windows import arrived_us, members, stage_window


def closed(n, end_us=None):
    rows = back_to_back(n)
    return stage(0, "c=1", 0, end_us or rows[-1]["end_us"]), frame(rows)


def test_a_long_closed_stage_is_steady_without_its_first_answer_and_its_drain():
    of, requests = closed(200)
    window = stage_window(of, requests)
    assert not window.short
    assert window.begin_us == SECOND  # the first whole second after the first answer, 280 ms
    assert window.end_us == of["issue_end_us"] // SECOND * SECOND
    assert "ramp and drain" in window.reason


def test_a_stage_under_thirty_seconds_loses_its_first_and_last_median_answer_and_is_short():
    of, requests = closed(20)
    window = stage_window(of, requests)
    assert window.short
    assert (window.begin_us, window.end_us) == (280_000, 19 * 280_000 + 1)
    assert len(members(requests, window)) == 19
    assert "needs 30 s" in window.reason


def lockstep(batches, answer_us, streams=4):
    """Streams that begin together and stay together: each batch ends as the next is sent."""
    return [
        row(streams * batch + i, batch * answer_us, end_us=(batch + 1) * answer_us)
        | {"last_token_us": (batch + 1) * answer_us}
        for batch in range(batches)
        for i in range(streams)
    ]


def test_rates_of_a_few_lockstep_batches_are_those_of_the_whole_stage():
    requests = frame(lockstep(3, 1_580_000))
    of = stage(0, "c=4", 0, 4_770_000) | {"issue_end_us": 3_200_000}
    window = stage_window(of, requests)
    assert window.short
    assert request_rate(requests, window) == pytest.approx(12 / 4.77, rel=1e-3)
    assert offered_rate(requests, window) == pytest.approx(12 / 4.77, rel=1e-3)
    assert "it lasts 3 times a median answer" in window.reason


def test_a_cut_that_would_throw_most_away_is_not_made():
    rows = [row(i, 0) for i in range(8)] + [row(9, 300_000)]
    window = stage_window(stage(0, "c=8", 0, 2_600_000), frame(rows))
    assert window.short
    assert len(members(frame(rows), window)) == 9
    assert "1 of 9 requests would remain" in window.reason


def test_a_ramp_of_streams_is_left_out():
    # One stream for 20 s, then ten: the plateau is where there are ten.
    lone = back_to_back(280)
    crowd = [row(1000 * s + i, 20 * SECOND + 280_000 * i) for s in range(1, 10) for i in range(200)]
    end_us = max(r["end_us"] for r in lone + crowd)
    window = stage_window(stage(0, "c=10", 0, end_us), frame(lone + crowd))
    assert not window.short
    assert 19 * SECOND < window.begin_us < 22 * SECOND


def test_an_open_stage_begins_after_the_p95_answer_and_ends_with_its_last_issue():
    rows = [row(i, 500_000 * i, due_us=500_000 * i) for i in range(100)]
    window = stage_window(stage(0, "2/s", 0, rows[-1]["end_us"], kind="open"), frame(rows))
    assert not window.short
    assert window.begin_us == SECOND  # the first whole second after it, 280 ms
    assert window.end_us == rows[-1]["send_us"] // SECOND * SECOND


def test_a_replayed_trace_is_a_schedule_too_and_has_no_plateau():
    rows = [row(i, 500_000 * i, due_us=500_000 * i) for i in range(100)]
    open_loop, replay = (
        stage_window(stage(0, "trace", 0, rows[-1]["end_us"], kind=kind), frame(rows))
        for kind in ("open", "replay")
    )
    assert replay == open_loop
    assert "p95 answer" in replay.reason


def test_instant_answers_have_a_window():
    rows = [row(i, 400_000 * i, 0, last_token_us=400_000 * i) for i in range(100)]
    assert not stage_window(stage(0, "c=1", 0, 40_000_000), frame(rows)).seconds < 30


def test_a_stage_without_an_answer_is_shown_whole_and_says_so():
    rows = [row(i, 0, outcome="connect_failed") for i in range(3)]
    window = stage_window(stage(0, "c=1", 0, 280_000), frame(rows))
    assert window.short
    assert "No request was answered" in window.reason
    assert len(members(frame(rows), window)) == 3


def test_a_stage_without_any_request_has_a_window_all_the_same():
    window = stage_window(stage(0, "c=1", 1_000_000, 2_000_000), frame([]))
    assert window.seconds > 0
    assert len(members(frame([]), window)) == 0


def test_a_stage_cut_off_before_its_end_was_written_uses_what_was_seen():
    rows = back_to_back(20)
    of = stage(0, "c=1", 0, 0) | {"issue_end_us": None, "end_us": float("nan")}
    window = stage_window(of, frame(rows))
    assert window.end_us == rows[-1]["send_us"] + 1


def test_a_request_belongs_to_the_window_by_its_due_instant_whatever_its_end():
    rows = [row(0, 2_000_000, due_us=900_000), row(1, 2_500_000, due_us=1_500_000)]
    window = stage_window(stage(0, "1/s", 0, 3_000_000, kind="open"), frame(rows))
    inside = members(frame(rows), type(window)(1_000_000, 2_000_000, False, ""))
    assert inside["request_id"].tolist() == [1]


def test_a_request_never_sent_belongs_by_the_instant_it_was_due_or_taken_up():
    rows = [never_sent(0, 7, due_us=5), never_sent(1, 7), row(2, 9)]
    assert np.array_equal(arrived_us(frame(rows)), [5, 7, 9])


def test_warm_up_and_preflight_are_no_members_and_the_window_begins_after_them():
    rows = [row(99, 0, phase="warmup"), *back_to_back(20, begin_us=5 * SECOND)]
    requests = frame(rows)
    window = stage_window(stage(0, "c=1", 0, rows[-1]["end_us"]), requests)
    assert window.begin_us >= 5 * SECOND
    assert 99 not in members(requests, window)["request_id"].tolist()
