import pytest

from storage.buckets import bucket
from tests.ui.run_folders import append, live_line, pulse
from ui.live_feed import LiveFeed
from ui.live_view import SHOWN_S, live_series, live_tiles


def view(tmp_path, begin_us=0):
    live = LiveFeed(tmp_path).read()
    series = live_series(live, begin_us)
    return series, live_tiles(live, series, begin_us)


def test_nothing_measured_is_no_zero(tmp_path):
    series, tiles = view(tmp_path)
    assert series.t_s == []
    assert (tiles.tokens_per_s, tiles.ttft_p95_ms, tiles.gap_p99_ms) == (None, None, None)


def test_a_steady_stream_has_a_steady_rate_though_lines_come_unevenly(tmp_path):
    times = [1.0, 2.3, 3.1, 4.4, 5.2, 6.2]
    lines = [
        live_line(t, tokens=round(100 * (t - before)))
        for before, t in zip([0, *times], times, strict=False)
    ]
    append(tmp_path, *lines)
    series, _ = view(tmp_path)
    assert series.t_s == [1, 2, 3, 4, 5, 6]
    assert series.tokens_per_s == pytest.approx([100] * 6, rel=0.01)


def test_workers_add_up_and_the_slowest_to_report_ends_the_charts(tmp_path):
    append(tmp_path, *(live_line(t) for t in range(1, 6)))
    append(tmp_path, *(live_line(t) for t in range(1, 4)), worker=1)
    series, tiles = view(tmp_path)
    assert series.t_s == [1, 2, 3]
    assert series.tokens_per_s == [200, 200, 200]
    assert series.in_flight == [16, 16, 16]
    assert tiles.requests_per_s == 10


def test_a_quantile_is_right_within_one_percent(tmp_path):
    append(tmp_path, *(live_line(t) for t in range(1, 10)))
    _, tiles = view(tmp_path)
    assert tiles.ttft_p95_ms == pytest.approx(80, rel=0.011)
    assert tiles.gap_p99_ms == pytest.approx(15, rel=0.011)


def test_percentiles_forget_what_is_older_than_thirty_seconds(tmp_path):
    slow = {str(int(bucket(900_000))): 5}
    append(tmp_path, *(live_line(t, ttft=slow) for t in range(1, 11)))
    append(tmp_path, *(live_line(t) for t in range(11, 51)))
    series, tiles = view(tmp_path)
    assert tiles.n_ttft == 150
    assert tiles.ttft_p95_ms == pytest.approx(80, rel=0.011)
    assert series.ttft_p95_ms[9] == pytest.approx(900, rel=0.011)
    assert series.ttft_p95_ms[-1] == tiles.ttft_p95_ms


def test_latencies_are_those_of_the_present_level_which_may_be_younger(tmp_path):
    slow = {str(int(bucket(900_000))): 5}
    append(tmp_path, *(live_line(t, ttft=slow) for t in range(1, 11)))
    append(tmp_path, *(live_line(t) for t in range(11, 15)))
    live = LiveFeed(tmp_path).read()
    tiles = live_tiles(live, live_series(live, 0), 0, level_us=10_000_000)
    assert (tiles.latency_s, tiles.n_ttft) == (4, 20)
    assert tiles.ttft_p95_ms == pytest.approx(80, rel=0.011)


def test_a_level_that_has_only_just_begun_has_no_latencies_yet(tmp_path):
    append(tmp_path, *(live_line(t) for t in range(1, 5)))
    live = LiveFeed(tmp_path).read()
    tiles = live_tiles(live, live_series(live, 0), 0, level_us=9_000_000)
    assert (tiles.n_ttft, tiles.ttft_p95_ms) == (0, None)


def test_a_time_without_first_tokens_is_a_gap_in_the_line(tmp_path):
    append(tmp_path, live_line(1, ttft={}), live_line(2, ttft={}), live_line(3))
    series, _ = view(tmp_path)
    assert series.ttft_p50_ms[:2] == [None, None]
    assert series.ttft_p50_ms[2] is not None


def test_the_charts_show_a_bounded_time(tmp_path):
    append(tmp_path, *(live_line(t) for t in range(1, SHOWN_S + 100)))
    series, _ = view(tmp_path)
    assert len(series.t_s) == SHOWN_S
    assert series.t_s[-1] == SHOWN_S + 99


def test_streams_we_cancelled_are_no_failures(tmp_path):
    outcomes = {"complete": 1, "cancelled": 3, "timeout": 2}
    append(tmp_path, live_line(1, outcomes=outcomes), live_line(2, outcomes={}))
    series, tiles = view(tmp_path)
    assert (tiles.complete, tiles.failed) == (1, 2)
    assert series.failed_per_s == [2, 0]


def test_in_open_loop_ttft_from_schedule_stands_beside_that_from_send(tmp_path):
    waited = {str(int(bucket(900_000))): 5}
    append(tmp_path, *(live_line(t, ttft_sched=waited) for t in range(1, 10)))
    series, tiles = view(tmp_path)
    assert tiles.is_scheduled
    assert tiles.ttft_sched_p95_ms == pytest.approx(900, rel=0.011)
    assert tiles.ttft_p95_ms == pytest.approx(80, rel=0.011)
    assert series.ttft_sched_p95_ms[-1] == tiles.ttft_sched_p95_ms


def test_a_closed_loop_has_nothing_from_schedule_nor_have_lines_of_older_versions(tmp_path):
    append(tmp_path, live_line(1, ttft_sched={}), live_line(2), live_line(3))
    series, tiles = view(tmp_path)
    assert not tiles.is_scheduled
    assert tiles.ttft_sched_p95_ms is None
    assert series.ttft_sched_p50_ms == [None, None, None]


def test_arrivals_that_were_not_sent_have_a_number_of_their_own(tmp_path):
    append(tmp_path, live_line(1, outcomes={"not_sent": 4, "timeout": 1}), live_line(2))
    series, tiles = view(tmp_path)
    assert tiles.is_scheduled
    assert (tiles.not_sent, tiles.failed) == (4, 1)
    assert series.failed_per_s[0] == 1


def test_in_flight_holds_until_the_next_pulse(tmp_path):
    append(tmp_path, live_line(1, pulse=pulse(1, in_flight=4)), live_line(2, pulse=None))
    append(tmp_path, live_line(3, pulse=pulse(3, in_flight=9)))
    series, tiles = view(tmp_path)
    assert series.in_flight == [4, 4, 9]
    assert tiles.in_flight == 9


def test_seconds_count_from_the_first_level_and_not_from_the_preparations(tmp_path):
    append(tmp_path, live_line(11, tokens=0), live_line(12.5), live_line(13.5), live_line(14.6))
    series, _ = view(tmp_path, begin_us=11_500_000)
    assert series.t_s == [1, 2, 3]
    assert series.tokens_per_s[:2] == pytest.approx([80, 100], abs=15)
