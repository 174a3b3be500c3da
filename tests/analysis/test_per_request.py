import numpy as np
import pandas as pd
import pytest
from made import frame, row

from analysis import per_request as of
from analysis.metrics import METRICS


def one(value):
    assert len(value) == 1
    return value[0]


def test_every_span_of_one_answer_by_hand():
    # due 1.0 s, send 1.02 s, first token 1.1 s, visible 1.3 s, last 2.1 s, 21 tokens, 1 first.
    made = frame(
        [
            row(
                0,
                1_020_000,
                due_us=1_000_000,
                first_token_us=1_100_000,
                first_visible_us=1_300_000,
                last_token_us=2_100_000,
                output_tokens=21,
                first_chunk_tokens=1,
            )
        ]
    )
    assert one(of.ttft_ms(made)) == 80
    assert one(of.ttft_visible_ms(made)) == 280
    assert one(of.ttft_sched_ms(made)) == 100
    assert one(of.e2e_ms(made)) == 1080
    assert one(of.e2e_sched_ms(made)) == 1100
    assert one(of.send_lag_ms(made)) == 20
    assert one(of.tpot_ms(made)) == 50
    assert one(of.tps_decode(made)) == 20
    assert one(of.tps_e2e(made)) == pytest.approx(21 / 1.08)


def test_tokens_of_the_first_chunk_are_not_decoded_after_it():
    made = frame([row(0, 0, output_tokens=10, first_chunk_tokens=4)])
    assert one(of.tpot_ms(made)) == pytest.approx(180 / 6)


def test_a_first_chunk_of_unknown_size_counts_one_token_and_is_counted():
    made = frame([row(0, 0, output_tokens=10, first_chunk_tokens=None)])
    assert one(of.tpot_ms(made)) == pytest.approx(20)
    assert of.first_chunk_assumed(made) == 1


def test_a_one_token_answer_has_ttft_and_no_tpot():
    made = frame([row(0, 0, output_tokens=1, last_token_us=100_000)])
    assert one(of.ttft_ms(made)) == 100
    assert np.isnan(one(of.tpot_ms(made)))
    assert np.isnan(one(of.tps_decode(made)))
    assert of.first_chunk_assumed(made) == 0


def test_an_answer_in_one_chunk_at_one_instant_has_no_pace():
    made = frame([row(0, 0, output_tokens=8, first_chunk_tokens=3, last_token_us=100_000)])
    assert one(of.tpot_ms(made)) == 0
    assert np.isnan(one(of.tps_decode(made)))


def test_closed_loop_has_nothing_from_schedule():
    made = frame([row(0, 0)])
    for name, metric in METRICS.items():
        if metric.open_loop_only:
            assert np.isnan(one(metric.values(made))), name


def test_connect_adds_its_phases_and_is_absent_on_a_reused_connection():
    made = frame([row(0, 0, dns_us=1_000, connect_us=2_000), row(1, 0, conn_reused=True)])
    assert of.connect_ms(made)[0] == 3
    assert np.isnan(of.connect_ms(made)[1])


def test_every_per_request_metric_of_nothing_is_nothing():
    for metric in METRICS.values():
        if metric.values:
            assert len(metric.values(frame([]))) == 0
            assert len(metric.values(pd.DataFrame())) == 0


def test_a_failed_request_is_undefined_never_zero():
    made = frame([row(0, 0, outcome="http_error")])
    for name, metric in METRICS.items():
        if metric.values and name != "client_queue":  # it was sent: we know how long that took
            assert np.isnan(one(metric.values(made))), name
