"""Streams of APIs other than OpenAI's two, as times and a row (all bytes are our own)."""

import json
from typing import Any

import pytest
from exchanges import END, HEAD, Decoded, chunk, decode_bodies, decode_reads

NDJSON_HEAD = HEAD.replace(b"text/event-stream", b"application/x-ndjson")


def named(event_type: str, **more: Any) -> bytes:
    data = json.dumps({"type": event_type, **more})
    return f"event: {event_type}\ndata: {data}\n\n".encode()


def block(text: str, kind: str = "text") -> bytes:
    delta = {"type": f"{kind}_delta", kind: text}
    return named("content_block_delta", index=0, delta=delta)


def message_start(**usage: int) -> bytes:
    return named("message_start", message={"id": "msg_1", "content": [], "usage": usage})


def message_end(reason: str, **usage: int) -> bytes:
    end = named("message_delta", delta={"stop_reason": reason}, usage=usage)
    return end + named("message_stop")


def messages(*bodies: tuple[float, bytes]) -> Decoded:
    return decode_bodies(*bodies, api="anthropic_messages")


def ollama(*lines: tuple[float, bytes], end: bytes = b"\n") -> Decoded:
    reads = [(1.0, NDJSON_HEAD), *((ms, chunk(line + end)) for ms, line in lines)]
    return decode_reads([*reads, (lines[-1][0] + 1, END)], api="ollama_chat")


def line(content: str, **more: Any) -> bytes:
    return json.dumps({"message": {"content": content}, "done": False, **more}).encode()


def tgi_token(text: str, special: bool = False, details: Any = None) -> bytes:
    token = {"id": 5, "text": text, "special": special}
    event = {"token": token, "generated_text": "A" if details else None, "details": details}
    return b"data:" + json.dumps(event).encode() + b"\n\n"


def test_37_anthropic_counts_are_cumulative_and_starts_and_pings_are_no_tokens():
    void = named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    got = messages(
        (5, message_start(input_tokens=25, output_tokens=1) + named("ping")),
        (6, void),
        (100, block("hm", "thinking")),
        (200, block("A")),
        (210, named("content_block_stop", index=0)),
        (220, message_end("end_turn", output_tokens=15)),
    )
    assert (got.ttft_ms, got.gaps_ms, got.kinds) == (100, [100], ["reasoning", "content"])
    assert got.row.first_visible_us == 1_000_000 + 200_000
    assert (got.row.prompt_tokens, got.row.output_tokens) == (25, 15)
    assert (got.row.outcome, got.row.finish_reason) == ("complete", "stop")


def test_34_an_anthropic_answer_without_text_is_empty():
    got = messages(
        (5, message_start(input_tokens=2)), (9, message_end("end_turn", output_tokens=0))
    )
    assert (got.row.outcome, got.row.output_tokens) == ("empty", 0)


def test_23_an_anthropic_stream_that_closes_before_its_stop_is_truncated():
    got = messages((5, message_start(input_tokens=2)), (9, block("A")))
    assert (got.row.outcome, got.row.n_chunks) == ("truncated", 1)


def test_20_an_anthropic_rate_limit_within_a_200_is_one():
    error = {"type": "rate_limit_error", "message": "Too fast."}
    got = messages((5, message_start(input_tokens=2)), (9, named("error", error=error)))
    assert (got.row.outcome, got.row.detail) == ("rate_limited", "Too fast.")


def test_38_ollama_lines_are_events_and_the_last_one_counts():
    counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 2}
    got = ollama((10, line("A")), (30, line("B")), (40, line("", **counts)))
    assert (got.ms, got.row.output_tokens, got.row.token_source) == ([10, 30], 2, "usage")
    assert (got.row.outcome, got.row.form) == ("complete", "stream")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_38_the_last_line_of_ollama_may_be_an_error_with_or_without_its_end(end: bytes):
    error = json.dumps({"error": "runner gone"}).encode()
    reads = [(1.0, NDJSON_HEAD), (10, chunk(line("A") + b"\n")), (20, chunk(error + end))]
    got = decode_reads([*reads, (21, END)], api="ollama_chat")
    assert (got.row.outcome, got.row.detail, got.row.n_chunks) == ("stream_error", "runner gone", 1)


def test_38_a_character_of_ollama_may_be_cut_in_two():
    data = json.dumps({"message": {"content": "日"}}, ensure_ascii=False).encode() + b"\n"
    cut = data.index(b"\x97")
    reads = [(1.0, NDJSON_HEAD), (10, chunk(data[:cut])), (20, chunk(data[cut:]))]
    assert decode_reads(reads, api="ollama_chat").ms == [20]


def test_47_tgi_events_without_a_blank_are_a_token_each_and_special_ones_no_text():
    details = {"finish_reason": "eos_token", "generated_tokens": 4, "seed": None}
    got = decode_bodies(
        (10, tgi_token("A")),
        (20, tgi_token("")),
        (30, tgi_token("é")),
        (40, tgi_token("</s>", special=True, details=details)),
        api="tgi",
    )
    assert (got.ms, got.n_tokens) == ([10, 30], [1, 2])
    assert (got.row.outcome, got.row.output_tokens) == ("complete", 4)


def test_41_choices_of_llama_cpp_are_kept_apart_and_their_totals_added():
    def event(choice: int, content: str, n: int, **more: Any) -> bytes:
        said = {"index": choice, "content": content, "tokens_predicted": n, "tokens_evaluated": 3}
        return b"data: " + json.dumps({**said, "stop": False, **more}).encode() + b"\n\n"

    end = {"stop": True, "stop_type": "limit"}
    got = decode_bodies(
        (10, event(0, "A", 1)),
        (11, event(1, "a", 1)),
        (20, event(0, "B", 2)),
        (21, event(0, "", 2, **end)),
        (22, event(1, "", 1, **end)),
        api="llamacpp",
    )
    assert (got.row.output_tokens, got.row.n_choices, got.row.outcome) == (3, 2, "complete")


def test_27_reasoning_of_a_response_is_part_of_its_output():
    usage = {"output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 8}}
    got = decode_bodies(
        (100, named("response.reasoning_text.delta", delta="hm")),
        (500, named("response.output_text.delta", delta="A", output_index=1)),
        (510, named("response.completed", response={"status": "completed", "usage": usage})),
        api="openai_responses",
    )
    assert (got.ttft_ms, got.row.output_tokens, got.row.reasoning_tokens) == (100, 10, 8)
    assert (got.row.outcome, got.row.n_choices) == ("complete", 1)


def test_server_timings_of_an_answer_are_in_its_row():
    metrics = {"queue_time_ms": 12.3, "time_to_first_token_ms": 85.2, "generation_time_ms": 99}
    response = {"status": "completed", "metrics": metrics}
    got = decode_bodies(
        (100, named("response.output_text.delta", delta="A")),
        (110, named("response.completed", response=response)),
        api="openai_responses",
    )
    row = got.row
    assert (row.server_queue_us, row.server_prefill_us) == (12_300, 85_200)
    assert row.server_decode_us == 99_000
