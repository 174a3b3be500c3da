import numpy as np
import pandas as pd
import pytest
from made import SECOND, back_to_back, frame, row

from analysis.throughput import (
    TokenCount,
    failed_of,
    littles_law,
    offered_rate,
    request_rate,
    shortfall,
    token_rate,
)
from analysis.windows import Window

NOTHING_PER_SECOND = pd.DataFrame({"sec": [], "tokens": [], "events": []})


def window(begin_s, end_s):
    return Window(int(begin_s * SECOND), int(end_s * SECOND), False, "")


def test_system_output_tps_is_tokens_over_the_windows_measured_length():
    found = token_rate(
        TokenCount(500, 500, 0), frame([row(0, 0)]), window(2, 4.5), NOTHING_PER_SECOND
    )
    assert found.value == 200
    assert found.ci95 is None
    assert "needs 10 s" in found.reason
    assert not found.note


def test_chunks_of_unknown_size_take_the_mean_of_the_requests_that_tell_and_say_so():
    requests = frame([row(0, 0, output_tokens=30, n_chunks=10), row(1, 0, outcome="reset")])
    found = token_rate(TokenCount(0, 20, 20), requests, window(0, 1), NOTHING_PER_SECOND)
    assert found.value == 60
    assert "20 of 20 chunks" in found.note


def test_without_any_token_count_there_is_no_system_output_tps():
    requests = frame([row(0, 0, output_tokens=None)])
    found = token_rate(TokenCount(0, 20, 20), requests, window(0, 1), NOTHING_PER_SECOND)
    assert found.value is None
    assert "output_tokens" in found.reason


def test_its_interval_is_students_t_over_equal_batches():
    # Twenty whole seconds, batches of one: mean 100, half width t(0.975, 19) * s / sqrt(20).
    tokens = np.array([90, 110] * 10)
    per_second = pd.DataFrame({"sec": np.arange(20), "tokens": tokens, "events": tokens})
    count = TokenCount(2000, 2000, 0)
    found = token_rate(count, frame([row(0, 0)]), window(0, 20), per_second)
    half = 2.093024 * np.std(tokens, ddof=1) / np.sqrt(20)
    assert found.ci95 == pytest.approx((100 - half, 100 + half), rel=1e-6)


def test_batches_hold_at_least_two_median_answers():
    slow = frame([row(0, 0, end_us=2 * SECOND)])
    per_second = pd.DataFrame({"sec": range(30), "tokens": [1] * 30, "events": [1] * 30})
    found = token_rate(TokenCount(30, 30, 0), slow, window(0, 30), per_second)
    assert found.ci95 is None
    assert "needs 40 s" in found.reason


def test_completed_counts_ends_and_offered_counts_arrivals():
    requests = frame([row(i, SECOND * i, 900_000) for i in range(10)])
    assert offered_rate(requests, window(0, 5)) == 1
    assert request_rate(requests, window(0, 5)) == 0.8  # 0.9 + 0.18 s after each send
    assert request_rate(requests, window(0, 12)) == pytest.approx(10 / 12)


def test_failed_and_unsent_requests_were_offered_and_not_completed():
    requests = frame([row(0, 0), row(1, 0, outcome="timeout")])
    assert offered_rate(requests, window(0, 1)) == 2
    assert request_rate(requests, window(0, 1)) == 1


def test_littles_law_holds_for_back_to_back_answers():
    law = littles_law(frame(back_to_back(100)), window(0, 28))
    assert law.mean_in_flight == pytest.approx(1)
    assert law.rate_x_residence == pytest.approx(1, rel=0.02)  # one end lies on the edge
    assert law.is_ok


def test_littles_law_shows_rows_that_are_missing():
    rows = [row(i, 0, end_us=20 * SECOND) for i in range(5)]  # never end within the window
    law = littles_law(frame([*rows, row(9, 0, end_us=SECOND)]), window(0, 10))
    assert not law.is_ok


def test_nothing_ended_means_no_law():
    assert littles_law(frame([]), window(0, 1)) is None


def test_more_came_than_went_is_overload_and_chance_is_not():
    piling = [row(i, 50_000 * i, 100_000 * i) for i in range(400)]  # served at half the rate
    assert shortfall(frame(piling), window(0, 20)) == "overload"
    keeping_up = [row(i, 50_000 * i) for i in range(400)]
    assert shortfall(frame(keeping_up), window(0, 20)) is None


def test_requests_that_fail_are_no_overload_and_not_kept_up_with():
    def failing(every):
        outcomes = ["complete" if i % every else "http_error" for i in range(400)]
        return frame([row(i, 50_000 * i, outcome=told) for i, told in enumerate(outcomes)])

    assert shortfall(failing(4), window(0, 20)) == "failures"
    assert failed_of(failing(4), window(0, 20)) == (100, 400)
    assert shortfall(failing(50), window(0, 20)) is None
