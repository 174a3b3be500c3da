"""Streams that broke other tools, by their number in test_stream_cases_are_covered.

All bytes are our own.  Those whose framing did it are in test_exchange_stream_framing, those whose
clocks or connections did in test_exchange_stream_times.
"""

import pytest
from exchanges import (
    DONE,
    FINISH,
    HEAD,
    ROLE,
    chunk,
    content,
    decode_bodies,
    decode_reads,
    delta,
    sse,
    usage,
    usage_event,
)

AT_TEN = b"Mon, 30 Nov 2026 10:00:00 GMT"
A, B, C = content("A"), content("B"), content("C")


def test_1_a_role_only_chunk_is_not_the_first_token():
    got = decode_bodies((5, ROLE), (210, A), (230, FINISH + DONE))
    assert got.ttft_ms == 210
    assert got.row.other_events == {"role": 1, "finish": 1, "done": 1}


def test_2_the_wait_after_a_role_chunk_is_no_gap():
    got = decode_bodies((900, ROLE), (2200, A), (2220, B), (2230, DONE))
    assert got.ttft_ms == 2200
    assert got.gaps_ms == [20]


def test_3_a_finish_chunk_with_an_empty_delta_is_no_token():
    got = decode_bodies((1, ROLE), (10, A), (20, B), (30, FINISH), (31, DONE))
    assert got.gaps_ms == [10]
    assert got.row.finish_reason == "stop"


def test_4_a_usage_chunk_without_choices_counts_tokens_and_ends_nothing():
    got = decode_bodies((10, A), (50, usage_event(2)), (60, DONE))
    assert got.row.output_tokens == 2
    assert got.row.prompt_tokens == 5
    assert got.row.token_source == "usage"
    assert got.row.last_token_us == got.row.first_token_us


def test_19_an_error_object_inside_a_200_is_a_failure_that_keeps_its_tokens():
    error = sse({"error": {"message": "boom", "code": 500}})
    got = decode_bodies((1, ROLE), (10, A), (20, error), (21, DONE))
    assert (got.row.outcome, got.row.detail) == ("stream_error", "boom")
    assert got.row.http_status == 200
    assert got.row.n_chunks == 1


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (sse({"error": "overloaded"}), "overloaded"),
        (b'event: error\ndata: {"message":"x"}\n\n', "x"),
        (b"event: error\ndata: out of memory\n\n", "out of memory"),
        (sse({"object": "error", "message": "too long"}), "too long"),
        (sse({"error": {}, "object": "error"}), '{"error":{},"object":"error"}'),
    ],
)
def test_20_an_error_before_any_token_in_any_shape(event: bytes, sentence: str):
    got = decode_bodies((10, event), (20, DONE))
    assert (got.row.outcome, got.row.detail) == ("stream_error", sentence)
    assert got.row.output_tokens is None


def test_20_an_error_that_is_null_is_none():
    assert decode_bodies((10, content("A", error=None)), (20, DONE)).row.outcome == "complete"


@pytest.mark.parametrize(
    ("content_type", "body", "outcome"),
    [
        ("text/event-stream", b"", "empty"),
        ("application/json", b"", "empty"),
        ("text/plain", b"busy", "malformed"),
        ("text/html", b"<html><body>Sign in</body></html>", "malformed"),
        ("application/json", b'{"error":{"message":"boom"}}', "stream_error"),
        ("text/event-stream", b'{"error":{"message":"boom"}}', "stream_error"),
    ],
)
def test_21_a_200_without_a_stream_is_no_success(content_type: str, body: bytes, outcome: str):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n" % content_type.encode()
    row = decode_reads([(1, head), *([(10.0, body)] if body else [])], cause="eof").row
    assert row.outcome == outcome
    assert row.output_tokens is None
    assert row.first_token_us is None


def test_22_a_missing_done_is_fine_once_the_finish_reason_was_seen():
    got = decode_reads([(1, HEAD), (10, chunk(A)), (20, chunk(FINISH))], cause="eof")
    assert got.row.outcome == "complete"


def test_23_an_end_without_done_and_without_finish_reason_is_truncated():
    got = decode_bodies((10, A), (20, B), cause="eof")
    assert got.row.outcome == "truncated"
    assert "after 2 token events" in str(got.row.detail)
    assert got.ms == [10, 20]


@pytest.mark.parametrize("cause", ["timeout", "reset", "cancelled", "eof"])
def test_25_what_happens_to_the_connection_after_done_does_not_matter(cause: str):
    got = decode_reads([(1, HEAD), (10, chunk(A)), (20, chunk(DONE))], cause=cause)
    assert got.row.outcome == "complete"
    assert got.row.last_token_us == got.row.first_token_us


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning": "hm", "content": ""},
        {"reasoning_content": "hm", "content": None, "reasoning": None},
    ],
)
def test_26_reasoning_by_either_name_is_the_first_token_but_not_visible(fields: dict[str, str]):
    got = decode_bodies((100, delta(fields)), (5000, A), (5001, DONE))
    assert got.ms == [100, 5000]
    assert got.kinds == ["reasoning", "content"]
    assert got.ttft_ms == 100
    assert got.row.first_visible_us == 6_000_000


def test_27_reasoning_tokens_are_part_of_the_output_tokens():
    counts = {**usage(10), "completion_tokens_details": {"reasoning_tokens": 8}}
    counts["prompt_tokens_details"] = {"cached_tokens": 3}
    got = decode_bodies((10, A), (20, sse({"choices": [], "usage": counts})), (21, DONE))
    assert (got.row.output_tokens, got.row.reasoning_tokens) == (10, 8)
    assert (got.row.prompt_tokens, got.row.cached_tokens) == (5, 3)


def test_28_a_stream_of_tool_calls_only_has_tokens():
    def call(function: dict[str, str]) -> bytes:
        return delta({"content": None, "tool_calls": [{"index": 0, "function": function}]})

    got = decode_bodies(
        (10, call({"name": "f", "arguments": ""})),
        (20, call({"arguments": '{"x":'})),
        (30, call({"arguments": "1}"})),
        (40, delta({}, "tool_calls")),
    )
    assert got.kinds == ["tool"] * 3
    assert got.ms == [10, 20, 30]
    assert (got.row.outcome, got.row.finish_reason) == ("complete", "tool_calls")


def test_28_a_tool_call_without_name_and_arguments_is_no_token():
    void = [{"index": 0, "id": "c", "type": "function", "function": {"arguments": ""}}]
    got = decode_bodies((5, delta({"tool_calls": void})), (6, delta({"tool_calls": None})), (10, A))
    assert got.ms == [10]
    assert got.row.other_events == {"empty": 2}


def test_28_a_refusal_is_visible_text():
    got = decode_bodies((10, delta({"content": None, "refusal": "No."})), (20, DONE))
    assert got.kinds == ["refusal"]
    assert got.row.first_visible_us == got.row.first_token_us


def test_30_chunks_of_several_tokens_are_gaps_between_chunks():
    got = decode_bodies((10, A), (30, B), (50, C), (60, usage_event(12)), (61, DONE))
    assert got.gaps_ms == [20, 20]
    assert got.n_tokens == [0, 0, 0]
    assert got.row.first_chunk_tokens is None
    assert got.row.output_tokens == 12


def test_31_cumulative_usage_gives_the_tokens_of_each_chunk():
    events = [
        content("A", usage=usage(1)),
        content("B", usage=usage(2)),
        content("C", usage=usage(4)),
    ]
    got = decode_bodies((10, events[0]), (20, events[1]), (30, events[2]), (40, FINISH), (41, DONE))
    assert got.n_tokens == [1, 1, 2]
    assert got.row.output_tokens == 4
    assert got.row.first_chunk_tokens == 1


def test_32_without_usage_the_tokens_are_unknown():
    got = decode_bodies(
        (10, content("Hel")), (20, content("lo")), (30, content(" world")), (40, DONE)
    )
    assert got.row.output_tokens is None
    assert got.row.token_source is None
    assert got.row.n_chunks == 3


def test_34_one_token_is_a_first_token_and_no_gap():
    got = decode_bodies((10, A), (20, usage_event(1)), (21, DONE))
    assert got.row.output_tokens == 1
    assert got.row.first_chunk_tokens == 1
    assert got.tokens["gap_us"].tolist() == [-1]


@pytest.mark.parametrize("n", [0, 1])
def test_34_a_finished_answer_without_text_is_empty(n: int):
    got = decode_bodies((1, ROLE), (10, FINISH), (20, usage_event(n)), (21, DONE))
    assert got.row.outcome == "empty"
    assert "finish_reason stop" in str(got.row.detail)
    assert got.row.output_tokens == n
    assert got.ttft_ms is None


@pytest.mark.parametrize(
    "code",
    [429, "429", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"],
)
def test_35_a_429_inside_a_200_is_rate_limited(code: int | str):
    got = decode_bodies((10, sse({"error": {"code": code, "message": "slow down"}})), (11, DONE))
    assert (got.row.outcome, got.row.detail) == ("rate_limited", "slow down")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (b"Retry-After: 2\r\n", 2),
        (b"Date: %s\r\nRetry-After: %s\r\n" % (AT_TEN, AT_TEN.replace(b"10:00", b"10:01")), 60),
        (b"", None),
    ],
)
def test_35_a_429_is_rate_limited_and_says_when_to_come_back(headers: bytes, seconds: float | None):
    head = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n" + headers + b"\r\n"
    row = decode_reads([(5, head)]).row
    assert (row.outcome, row.http_status, row.retry_after_s) == ("rate_limited", 429, seconds)
    assert row.first_token_us is None


def test_36_a_reset_after_a_token_keeps_it():
    got = decode_reads(
        [(1, HEAD), (10, chunk(A))], cause="reset", detail="Connection reset by peer", end_ms=11
    )
    assert (got.row.outcome, got.row.detail) == ("reset", "Connection reset by peer")
    assert got.ms == [10]


def test_41_choices_of_an_answer_are_one_stream_of_tokens_with_one_first():
    def choice(index: int, fields: dict[str, str], finish: str | None = None) -> bytes:
        return sse({"choices": [{"index": index, "delta": fields, "finish_reason": finish}]})

    got = decode_bodies(
        (10, choice(0, {"content": "A"})),
        (20, choice(1, {"content": "a"})),
        (30, choice(0, {}, "stop")),
        (40, choice(1, {"content": "b"})),
        cause="eof",
    )
    assert got.ms == [10, 20, 40]
    assert got.row.outcome == "truncated", "choice 1 was never finished"
