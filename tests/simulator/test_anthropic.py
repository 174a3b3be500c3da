"""Anthropic's Messages API as the simulator speaks it."""

import json
from typing import Any

import pytest
from simulated import answered, named_events

from simulator.anthropic import parse, refuse
from simulator.ask import ApiError, Posted
from simulator.faults import Fault

PATH = "/v1/messages"


def ask(**fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "a b c"}]
    body = {"messages": messages, "max_tokens": 2, "ignore_eos": True, "stream": True}
    return {**body, **fields}


def test_a_stream_is_a_message_with_one_block():
    events = named_events(answered(PATH, ask()))
    assert all(event["type"] == name for name, event in events)
    texts = [event["delta"].pop("text") for name, event in events if name.endswith("block_delta")]
    assert [len(text.split()) for text in texts] == [1, 1]
    start, *between, message_delta, message_stop = [event for _, event in events]
    assert start["message"] == {
        "id": "msg_r1", "type": "message", "role": "assistant", "content": [], "model": "null",
        "stop_reason": None, "stop_sequence": None,
        "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": 1,
        },
    }  # fmt: skip
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}
    assert between == [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        delta,
        delta,
        {"type": "content_block_stop", "index": 0},
    ]
    assert message_delta["delta"] == {"stop_reason": "max_tokens", "stop_sequence": None}
    assert message_delta["usage"]["output_tokens"] == 2
    assert message_stop == {"type": "message_stop"}


def test_thoughts_are_a_block_before_the_text():
    events = named_events(answered(PATH, ask(max_tokens=3), "thinking_share=0.67"))
    blocks = [event for name, event in events if "content_block" in name]
    kinds = [
        (event["index"], event.get("delta", event.get("content_block", {})).get("type"))
        for event in blocks
    ]
    assert kinds == [
        (0, "thinking"), (0, "thinking_delta"), (0, "thinking_delta"), (0, "signature_delta"),
        (0, None), (1, "text"), (1, "text_delta"), (1, None),
    ]  # fmt: skip
    assert [name for name, _ in events].count("ping") == 1
    assert events[-2][1]["usage"]["output_tokens"] == 3


def test_an_answer_that_is_all_thought_closes_its_block():
    names = [name for name, _ in named_events(answered(PATH, ask(), "thinking_share=1"))]
    assert names.count("content_block_start") == names.count("content_block_stop") == 1


def test_thinking_can_be_switched_off():
    body = ask(thinking={"type": "disabled"}, stream=False)
    answer = json.loads(answered(PATH, body, "thinking_share=0.5"))
    assert [block["type"] for block in answer["content"]] == ["text"]


def test_a_whole_message_has_blocks_and_usage():
    answer = json.loads(answered(PATH, ask(stream=False, system="be nice"), "thinking_share=0.5"))
    assert [block["type"] for block in answer["content"]] == ["thinking", "text"]
    assert (answer["stop_reason"], answer["usage"]["output_tokens"]) == ("max_tokens", 2)
    assert answer["usage"]["input_tokens"] == 5


def test_a_failed_engine_is_an_error_event_and_nothing_after_it():
    events = named_events(answered(PATH, ask(x_sim_fault="error_after=1")))
    name, event = events[-1]
    assert (name, event["error"]["type"]) == ("error", "api_error")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (429, "rate_limit_error"), (500, "api_error")],
)
def test_an_error_is_named_by_its_status(status: int, kind: str):
    got, body = refuse(ApiError(status, "no", "whatever"))
    error = {"type": "error", "error": {"type": kind, "message": "no"}}
    assert (got, json.loads(body)) == (status, error)


@pytest.mark.parametrize("missing", ["messages", "max_tokens"])
def test_messages_and_max_tokens_must_be_there(missing: str):
    body = {name: value for name, value in ask().items() if name != missing}
    with pytest.raises(ApiError, match=f"{missing}: Field required"):
        parse(Posted(PATH, body, Fault()))
