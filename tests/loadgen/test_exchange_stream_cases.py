"""Streams that broke other tools, and the right behaviour (all bytes are our own)."""

import pytest
from exchanges import (
    DONE,
    END,
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


def test_5_data_without_a_blank_after_the_colon():
    got = decode_bodies((10, A.replace(b"data: ", b"data:")), (20, b"data:[DONE]\n\n"))
    assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_6_crlf_framing_one_event_per_read():
    crlf = [event.replace(b"\n", b"\r\n") for event in (A, B, DONE)]
    got = decode_bodies((10, crlf[0]), (20, crlf[1]), (30, crlf[2]))
    assert got.ms == [10, 20]


def test_7_crlf_framing_all_in_one_read_and_cut_between_cr_and_lf():
    body = (A + B + DONE).replace(b"\n", b"\r\n")
    cut = body.index(b"\r\n\r\n") + 3
    assert decode_bodies((10, body)).ms == [10, 10]
    assert decode_bodies((10, body[:cut]), (20, body[cut:])).ms == [10, 20]


def test_8_a_comment_alone_in_a_read_is_a_sign_of_life_only():
    got = decode_bodies((5, b": ping\n\n"), (6, ROLE), (10, A), (20, B), (21, DONE))
    assert got.ms == [10, 20]
    assert got.row.outcome == "complete"
    assert got.row.other_events == {"comment": 1, "role": 1, "done": 1}


def test_9_a_comment_after_an_event_with_an_id_is_no_empty_event():
    got = decode_bodies((10, b"id: 1\n" + A), (15, b": ping\n\n"), (20, B), (21, DONE))
    assert got.ms == [10, 20]
    assert got.row.outcome == "complete"


def test_10_events_of_one_read_have_one_arrival_and_are_marked():
    got = decode_bodies((10, A + B + C), (20, DONE))
    assert got.gaps_ms == [0, 0]
    assert got.shared == [1, 1, 0]
    assert got.row.n_shared == 2


def test_11_an_event_of_many_reads_arrives_with_its_last_byte():
    stream = HEAD + chunk(A + DONE) + END
    reads = [(float(i), bytes([byte])) for i, byte in enumerate(stream)]
    last = stream.index(b"\n\n", stream.index(b"data:")) + 1
    assert decode_reads(reads).ms == [last]


@pytest.mark.parametrize("text", ["hello world", "日本", "a\u2028b", "a\u2029b", "a\x85b"])
def test_12_14_15_a_text_survives_any_cut_of_its_event(text: str):
    body = content(text) + DONE
    for cut in range(1, len(body)):
        got = decode_bodies((10, body[:cut]), (20, body[cut:]))
        assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_16_a_line_of_600_kb_is_a_token_event():
    got = decode_bodies((10, content("x" * 600_000)), (20, DONE))
    assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_16_an_endless_line_is_malformed_and_says_so():
    reads = [(float(i), chunk(b"data: " + b"x" * 2_000_000)) for i in range(10)]
    got = decode_reads([(1, HEAD), (2, chunk(A)), *reads], cause="eof")
    assert got.row.outcome == "malformed"
    assert got.row.detail == "An event is longer than 16 MiB."
    assert got.row.n_chunks == 1


def test_17_a_multi_line_event_is_joined_and_parsed():
    body = b'data: {"choices":[{"index":0,\ndata: "delta":{"content":"A"}}]}\n\n'
    assert decode_bodies((10, body), (20, DONE)).ms == [10]


def test_18_a_byte_order_mark_and_event_lines_lose_no_token():
    got = decode_bodies(
        (10, b"\xef\xbb\xbf" + A), (20, b"event: message\nretry: 1\n" + B), (30, DONE)
    )
    assert got.ms == [10, 20]


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
