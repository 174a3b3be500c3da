"""Anthropic Messages: what each event means."""

from typing import Any

import pytest
from wire_events import one, texts, whole

from loadgen.wire.api import Delta, UsageCount

API = "anthropic_messages"


def block_delta(**delta: Any) -> Delta:
    return one(API, {"type": "content_block_delta", "index": 3, "delta": delta})


def block_start(**block: Any) -> Delta:
    return one(API, {"type": "content_block_start", "index": 0, "content_block": block})


def usage_of(event_type: str, **usage: Any) -> UsageCount | None:
    told: dict[str, Any] = {"usage": usage}
    event = {"message": told} if event_type == "message_start" else told
    return one(API, {"type": event_type, **event}).usage


def test_text_thoughts_and_arguments_are_tokens_of_their_kind():
    assert block_delta(type="text_delta", text="A") == Delta("content", "A")
    assert block_delta(type="thinking_delta", thinking="hm") == Delta("reasoning", "hm")
    assert block_delta(type="input_json_delta", partial_json='{"x"') == Delta("tool", '{"x"')


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "signature_delta", "signature": "EqQB"},
        {"type": "citations_delta", "citation": {"cited_text": "x"}},
        {"type": "text_delta", "text": ""},
        {"type": "text_delta", "text": None},
        {"type": "of_tomorrow", "text": "x"},
        {},
    ],
)
def test_signatures_citations_and_void_deltas_are_no_tokens(delta: dict[str, Any]):
    assert block_delta(**delta) == Delta("empty")


def test_a_block_that_starts_with_text_or_the_name_of_a_tool_is_a_token():
    assert block_start(type="text", text="A") == Delta("content", "A")
    assert block_start(type="tool_use", id="t", name="f", input={}) == Delta("tool", "f")
    assert block_start(type="server_tool_use", name="web") == Delta("tool", "web")


def test_a_block_that_starts_void_is_no_token():
    assert block_start(type="text", text="") == Delta("empty")
    assert block_start(type="thinking", thinking="", signature="") == Delta("empty")
    assert block_start(type="redacted_thinking", data="EmwK") == Delta("empty")
    assert block_start(type="tool_use", id="t", name="") == Delta("empty")


def test_pings_and_block_ends_are_no_tokens():
    assert one(API, {"type": "ping"}).kind == "ping"
    assert one(API, {"type": "ping"}, "ping").kind == "ping"
    assert one(API, {"type": "content_block_stop", "index": 0}).kind == "empty"


def test_the_start_tells_id_and_prompt_but_its_one_output_token_is_no_count():
    message = {"id": "msg_1", "usage": {"input_tokens": 25, "output_tokens": 1}}
    delta = one(API, {"type": "message_start", "message": message})
    assert (delta.kind, delta.response_id) == ("role", "msg_1")
    assert delta.usage == UsageCount(prompt_tokens=25)


def test_prompt_tokens_are_those_read_and_those_from_or_for_a_cache():
    cached = {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 7}
    told = usage_of("message_start", input_tokens=25, **cached)
    assert told == UsageCount(prompt_tokens=132, cached_tokens=100)


def test_a_delta_with_output_alone_leaves_the_prompt_open():
    assert usage_of("message_delta", output_tokens=15) == UsageCount(output_tokens=15)
    assert usage_of("message_delta", output_tokens=1, cache_read_input_tokens=3) == UsageCount(
        output_tokens=1, cached_tokens=3
    )


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_stop_reasons_are_told_in_openais_words_where_there_is_one(word: str, ours: str):
    event = {"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 2}}
    delta = one(API, event)
    assert (delta.kind, delta.finish_reason) == ("finish", ours)


def test_a_message_delta_without_a_reason_is_a_usage_event():
    event = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 2}}
    assert one(API, event).kind == "usage"


def test_message_stop_ends_the_stream():
    assert one(API, {"type": "message_stop"}) == Delta("done")


@pytest.mark.parametrize(
    ("kind", "code"),
    [("overloaded_error", 529), ("rate_limit_error", 429), ("api_error", 500), ("new", None)],
)
@pytest.mark.parametrize("name", ["error", "message"])
def test_an_error_event_has_the_code_of_its_type(kind: str, code: int | None, name: str):
    event = {"type": "error", "error": {"type": kind, "message": "Overloaded"}}
    delta = one(API, event, name)
    assert (delta.error, delta.error_code) == ("Overloaded", code)


def test_a_whole_message_has_the_text_of_its_blocks_and_ends():
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "A"},
        {"type": "tool_use", "name": "f", "input": {"x": 1}},
    ]
    usage = {"input_tokens": 3, "output_tokens": 9}
    message = {"id": "msg_1", "content": content, "stop_reason": "tool_use", "usage": usage}
    deltas = whole(API, {"type": "message", **message})
    assert texts(deltas) == [("reasoning", "hm"), ("content", "A"), ("tool", 'f{"x":1}')]
    assert deltas[-1] == Delta(
        "finish", usage=UsageCount(3, 9), finish_reason="tool_calls", response_id="msg_1"
    )
