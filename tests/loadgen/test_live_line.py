"""The line that the Live page is drawn from."""

import numpy as np

from loadgen.live_line import Decoded, FirstToken, live_line
from storage.buckets import bucket_us
from storage.records import TOKEN_EVENT, RequestRow


def row(outcome: str, detail: str | None = None) -> RequestRow:
    return RequestRow(1, "x", 0, 0, "measure", outcome, 0, 9, detail=detail)  # type: ignore[arg-type]


def decoded(**more: object) -> Decoded:
    void = {"tokens": np.empty(0, TOKEN_EVENT), "rows": [], "pulses": []}
    return Decoded(**{"seq": 4, "t_us": 99, **void, **more})  # type: ignore[arg-type]


def test_a_second_in_which_nothing_came():
    assert live_line(decoded()) == {
        "seq": 4,
        "t_us": 99,
        "pulse": None,
        "tokens": 0,
        "events": 0,
        "ttft": {},
        "ttft_sched": {},
        "gap": {},
        "used": {},
        "outcomes": {},
        "last_error": None,
        "shared": 0,
        "missing_stamps": 0,
    }


def test_tokens_are_those_told_and_one_for_each_event_of_unknown_size():
    tokens = np.zeros(3, TOKEN_EVENT)
    tokens["n_tokens"] = [4, 0, 1]
    assert live_line(decoded(tokens=tokens))["tokens"] == 6


def test_gaps_and_first_tokens_are_counted_in_buckets():
    tokens = np.zeros(4, TOKEN_EVENT)
    tokens["gap_us"] = [-1, 20_000, 20_001, 0]
    line = live_line(decoded(tokens=tokens, first_tokens=[FirstToken(100_000, None)]))
    assert sorted(line["gap"].values()) == [1, 2]
    assert line["gap"]["0"] == 1
    ((b, n),) = line["ttft"].items()
    assert n == 1
    assert abs(bucket_us(int(b)) / 100_000 - 1) <= 0.01


def test_first_tokens_of_an_open_loop_are_counted_from_schedule_too():
    line = live_line(decoded(first_tokens=[FirstToken(100_000, 2_000_000), FirstToken(9, None)]))
    assert sum(line["ttft"].values()) == 2
    ((b, n),) = line["ttft_sched"].items()
    assert n == 1
    assert abs(bucket_us(int(b)) / 2_000_000 - 1) <= 0.01


def test_classes_are_told_apart_where_there_are_some():
    chat, nightly = row("complete"), row("timeout")
    chat.traffic_class, nightly.traffic_class = "chat", "nightly"
    line = live_line(decoded(rows=[chat, nightly], first_tokens=[FirstToken(9, 10, "chat")]))
    assert list(line["classes"]) == ["chat", "nightly"]
    assert line["classes"]["chat"]["outcomes"] == {"complete": 1}
    assert sum(line["classes"]["chat"]["ttft_sched"].values()) == 1
    assert line["classes"]["nightly"] == {"outcomes": {"timeout": 1}, "ttft": {}, "ttft_sched": {}}


def test_doubtful_and_unstamped_events_are_counted():
    tokens = np.zeros(3, TOKEN_EVENT)
    tokens["shared"] = [1, 1, 0]
    tokens["lag_us"] = [5, -1, 0]
    line = live_line(decoded(tokens=tokens))
    assert (line["shared"], line["missing_stamps"]) == (2, 1)


def test_an_answer_in_one_piece_counts_as_an_outcome_and_adds_no_token():
    whole = row("complete")
    whole.form, whole.output_tokens, whole.whole_us = "whole", 9, 8
    line = live_line(decoded(rows=[whole]))
    assert line["outcomes"] == {"complete": 1}
    assert (line["tokens"], line["events"], line["ttft"]) == (0, 0, {})


def test_the_last_error_is_the_last_that_was_not_our_own_cancelling():
    rows = [
        row("http_error", "first"),
        row("reset", "last"),
        row("complete"),
        row("cancelled", "c"),
    ]
    line = live_line(decoded(rows=rows))
    assert line["outcomes"] == {"http_error": 1, "reset": 1, "complete": 1, "cancelled": 1}
    assert line["last_error"] == {"outcome": "reset", "detail": "last"}


def test_the_last_pulse_of_the_segment_is_shown():
    assert live_line(decoded(pulses=[{"in_flight": 1}, {"in_flight": 2}]))["pulse"] == {
        "in_flight": 2
    }
