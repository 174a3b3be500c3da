"""Three answers and a failure, small enough to compute each tool's figure on paper."""

import numpy as np
import pytest

from analysis.dialects.line import Facts
from analysis.dialects.registry import DIALECTS
from storage.exchange.answers import answers
from tests.analysis.dialects.made_answers import Row, columns

# Send 0, 1, 2 s.  A: role-only event at 50 ms, then 4 chunks of one token, 100 … 160 ms.
# B: 2 chunks of 2 and 4 tokens at 200 and 300 ms.  C: one token at 400 ms.  D fails.
A = Row(
    start=0.0,
    chunks=[(0.1, 1, False), (0.12, 1, False), (0.14, 1, False), (0.16, 1, False)],
    tokens=4,
    first_event=0.05,
    close=0.04,
)
B = Row(start=1.0, chunks=[(0.2, 2, False), (0.3, 4, False)], tokens=6, close=0.1)
C = Row(start=2.0, chunks=[(0.4, 1, False)], tokens=1, close=0.1)
D = Row(start=2.0, chunks=[], tokens=None, outcome="timeout", close=3.0)
ROWS = [A, B, C, D]


def told(dialect, rows=ROWS, **facts):
    lines = DIALECTS[dialect].numbers(columns(rows), Facts(**facts))
    return {line.name: line.theirs for line in lines}


def check(dialect, expected, rows=ROWS, **facts):
    found = told(dialect, rows, **facts)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value), name


def test_vllm_begins_at_any_event_and_leaves_out_one_token_answers():
    check(
        "vllm",
        {
            "mean_ttft_ms": (50 + 200 + 400) / 3,
            "mean_tpot_ms": ((160 - 50) / 3 + (300 - 200) / 5) / 2,
            "mean_itl_ms": (20 * 3 + 100) / 4,
            "mean_e2el_ms": (160 + 300 + 400) / 3,
            "duration": 5.0,  # the failure's end
            "output_throughput": 11 / 5,
            "max_output_tokens_per_s": 4,
            "failed": 1,
        },
    )


def test_vllm_lets_a_one_token_answer_pass_its_tpot_limit():
    # A 36.7 ms, B 20 ms, C has none; only A misses.
    check("vllm", {"request_goodput": 2 / 5}, slos_ms={"tpot": 30.0})


def test_aiperf_does_not():
    # Its own: A 20 ms, B 25 ms ((300 - 200) / (6 - 2)), C has none and is not good.
    check("aiperf", {"goodput.avg": 2 / 5, "inter_token_latency.avg": 22.5}, slos_ms={"tpot": 30.0})


def test_sglang_ends_with_the_stream():
    check(
        "sglang",
        {
            "mean_ttft_ms": (100 + 200 + 400) / 3,
            "mean_e2e_latency_ms": (200 + 400 + 500) / 3,
            "mean_tpot_ms": ((200 - 100) / 3 + (400 - 200) / 5) / 2,
            "concurrency": (0.2 + 0.4 + 0.5) / 5,
        },
    )


def test_guidellm_weighs_by_tokens_and_divides_in_the_first_wait():
    check(
        "guidellm",
        {
            "time_per_output_token_ms.successful.mean": (160 + 300 + 400) / (4 + 6 + 1),
            "inter_token_latency_ms.successful.mean": (60 + 100) / (3 + 5),
            "inter_token_latency_ms.successful.median": 20.0,
            "request_latency.successful.percentiles.p99": 0.5,
            "requests_per_second.successful.mean": 3 / 2.5,
        },
    )


def test_guidellm_02_divides_the_decode_by_all_tokens():
    check("guidellm_02", {"time_per_output_token_ms.successful.mean": (60 + 100 + 0) / 11})


def test_guidellm_counts_answers_that_overlap_its_window_and_ends_within_it():
    made = columns(ROWS)
    made.extra.update(measure_start_s=0.2, measure_end_s=2.3)  # A ends as it begins, C after it
    lines = DIALECTS["guidellm"].numbers(made, Facts())
    found = {line.name: line.theirs for line in lines}
    assert found["request_totals.successful"] == 3
    assert found["requests_per_second.successful.mean"] == pytest.approx(2 / 2.1)
    made.extra["measure_start_s"] = 0.5
    found = {line.name: line.theirs for line in DIALECTS["guidellm"].numbers(made, Facts())}
    assert found["request_totals.successful"] == 2


def test_inference_perf_has_zero_gaps_within_a_chunk_and_no_ttft_of_one_token():
    check(
        "inference_perf",
        {
            "successes.latency.time_to_first_token.mean": 0.15,
            "successes.latency.inter_token_latency.mean": (3 * 0.02 + 0.1 + 4 * 0) / 8,
            "successes.latency.inter_token_latency.median": 0.01,
            "successes.latency.time_per_output_token.mean": (0.02 + 0.02) / 2,
            "successes.latency.normalized_time_per_output_token.max": 0.5,
        },
    )


def test_llmperf_divides_the_last_token_by_all_tokens():
    check(
        "llmperf",
        {
            "results_inter_token_latency_s_mean": (0.04 + 0.05 + 0.4) / 3,
            "results_error_rate": 0.25,
            "results_num_completed_requests_per_min": 60 * 3 / 5,
        },
    )


def test_mlperf_counts_from_the_schedule_in_whole_ns():
    late = [
        Row(start=1.0, due=0.9, chunks=[(0.1, 1, False), (0.2, 1, False)], tokens=4),
        Row(start=2.0, due=2.0, chunks=[(0.1, 1, False), (0.3, 1, False)], tokens=4),
    ]
    check(
        "mlperf",
        {
            "result_first_token_max_latency_ns": 200_000_000,
            "result_first_token_50.00_percentile_latency_ns": 200_000_000,  # sorted[floor(1.0)]
            "result_time_per_output_token_min_ns": 33_333_333,
            "result_completed_samples_per_sec": 1 / (2.3 - 0.9),
        },
        rows=late,
    )


def test_mlperf_has_no_latency_of_a_closed_loop_but_a_tpot():
    lines = {line.name: line for line in DIALECTS["mlperf"].numbers(columns(ROWS), Facts())}
    assert lines["result_mean_latency_ns"].theirs is None
    assert "closed loop" in lines["result_mean_latency_ns"].reason
    assert lines["result_time_per_output_token_min_ns"].theirs == 20_000_000
    assert lines["result_validity"].reason.startswith("INVALID: it has no schedule; 1 requests")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_answered_gives_no_number_but_counts(dialect):
    found = told(dialect, [D])
    assert all(value is None or value in (0, 1, 3, 100) for value in found.values()), found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_without_times_or_chunks_has_no_rate_and_says_so(dialect):
    made = answers(["complete"] * 3, ttft_s=np.array([0.1, 0.2, 0.3]))
    lines = DIALECTS[dialect].numbers(made, Facts())
    rates = [line for line in lines if line.unit in ("req/s", "tok/s") and not line.stat]
    assert rates
    assert all(line.theirs is None and line.reason for line in rates)
