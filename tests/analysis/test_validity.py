from dataclasses import replace

import pandas as pd
import pytest

from analysis.validity import Evidence, Validity, doubt_ms, hint_of, judge, worst
from analysis.windows import Window

GOOD = Evidence(
    stamps="kernel",
    n_events=100_000,
    n_shared=0,
    n_missing=0,
    bound_p99_ms=0.0,
    lag_p99_ms=0.5,
    send_lag_p99_ms=None,
    ttft_p50_ms=100.0,
    chunk_gap_p50_ms=20.0,
)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "exact"),
        ({"bound_p99_ms": 0.1}, "exact"),
        ({"bound_p99_ms": 0.9}, "bounded"),
        ({"bound_p99_ms": 1.1}, "saturated"),  # above 5 % of the gap of 20 ms
        ({"bound_p99_ms": 0.9, "ttft_p50_ms": 10.0}, "saturated"),  # above 5 % of TTFT
        ({"n_missing": 50}, "bounded"),
        ({"n_missing": 101}, "saturated"),  # above 0.1 %
        ({"send_lag_p99_ms": 4.9}, "exact"),
        ({"send_lag_p99_ms": 5.1}, "saturated"),
        ({"stamps": "user"}, "bounded"),
        ({"stamps": "user", "lag_p99_ms": 2.0}, "saturated"),
        ({"stamps": "user", "lag_p99_ms": None}, "unknown"),
        ({"stamps": ""}, "unknown"),
        ({"n_events": 0}, "unknown"),
        # Sub-millisecond gaps: exact stamps stay exact, whatever 5 % of the gap is.
        ({"bound_p99_ms": 0.05, "chunk_gap_p50_ms": 0.1}, "exact"),
        ({"n_missing": 1, "bound_p99_ms": 0.05, "chunk_gap_p50_ms": 0.1}, "bounded"),
        ({"bound_p99_ms": 0.11, "chunk_gap_p50_ms": 0.1}, "saturated"),
        # Tokens in batches: most gaps are within a batch, the pace is the TPOT's.
        ({"bound_p99_ms": 0.7, "chunk_gap_p50_ms": 0.0, "tpot_p50_ms": 15.0}, "bounded"),
        ({"bound_p99_ms": 0.8, "chunk_gap_p50_ms": 0.0, "tpot_p50_ms": 15.0}, "saturated"),
        ({"bound_p99_ms": 0.9, "chunk_gap_p50_ms": 20.0, "tpot_p50_ms": 5.0}, "bounded"),
    ],
)
def test_the_verdict_table(changes, verdict):
    assert judge(replace(GOOD, **changes)).verdict == verdict


def test_the_doubt_that_is_shown_is_the_one_that_was_judged():
    assert doubt_ms(replace(GOOD, bound_p99_ms=0.9)) == 0.9
    by_user_space = replace(GOOD, stamps="user", bound_p99_ms=20.0)
    assert doubt_ms(by_user_space) == 0.5
    assert "right within 0.5 ms" in judge(by_user_space).reason


def test_a_reader_lag_alone_is_no_reason_for_doubt_with_kernel_stamps():
    assert judge(replace(GOOD, lag_p99_ms=500.0)).verdict == "exact"


def test_the_sentence_says_what_was_seen_and_what_may_be():
    found = judge(replace(GOOD, send_lag_p99_ms=25.0, hint=" Likely why: CPU."))
    assert found.reason == (
        "Do not believe these numbers: requests left 25 ms late at p99, 25% of the median TTFT of "
        "100 ms (at most 5 % may). Likely why: CPU."
    )


def test_a_run_is_as_bad_as_its_worst_level_and_names_it():
    good, bad = Validity("exact", "fine."), Validity("saturated", "late.")
    assert worst([("c=1", good), ("c=64", bad)]) == Validity("saturated", "At c=64: late.")
    assert worst([("c=1", good), ("c=4", good)]) == good


def test_a_level_without_tokens_does_not_hide_the_others():
    nothing, good = Validity("unknown", "nothing."), Validity("exact", "fine.")
    assert worst([("c=1", good), ("c=64", nothing)]) == good
    assert worst([("c=1", nothing)]) == nothing
    assert worst([]).verdict == "unknown"


def test_the_hint_names_what_the_pulses_of_the_window_saw():
    pulses = pd.DataFrame(
        {"t_us": [1, 9], "cpu_share": [0.97, 0.1], "hub_late_max_us": [500, 90_000]}
    )
    assert "97% of its core" in hint_of(pulses, Window(0, 5, False, ""))
    assert (
        "the load generator's event loop stalled for 90 ms; run it on a machine of its own"
        in hint_of(pulses, Window(5, 10, False, ""))
    )
    assert hint_of(pulses, Window(10, 20, False, "")) == ""
