"""OpenAI Responses: what each event means."""

from typing import Any

import pytest
from wire_events import one, texts, whole

from loadgen.wire.api import Delta, ServerTimings, UsageCount

API = "openai_responses"


def last(event_type: str = "response.completed", beside: Any = None, **response: Any) -> Delta:
    event = {"type": event_type, "response": {"id": "resp_1", **response}, **(beside or {})}
    return one(API, event)


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("response.output_text.delta", "content"),
        ("response.reasoning_text.delta", "reasoning"),
        ("response.reasoning_summary_text.delta", "reasoning"),
        ("response.refusal.delta", "refusal"),
        ("response.function_call_arguments.delta", "tool"),
        ("response.custom_tool_call_input.delta", "tool"),
    ],
)
def test_a_delta_of_the_models_text_is_a_token_of_its_kind(event_type: str, kind: Any):
    at = {"item_id": "i", "output_index": 2, "content_index": 1, "sequence_number": 7}
    assert one(API, {"type": event_type, "delta": "x", **at}) == Delta(kind, "x")
    assert one(API, {"type": event_type, "delta": "", **at}).kind == "empty"
    assert one(API, {"type": event_type, "delta": None}).kind == "empty"


@pytest.mark.parametrize(
    "event_type",
    [
        "response.in_progress",
        "response.queued",
        "response.content_part.added",
        "response.output_text.done",
        "response.output_text.annotation.added",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.audio.delta",
        "response.of.tomorrow",
    ],
)
def test_all_other_events_are_empty(event_type: str):
    assert one(API, {"type": event_type, "text": "x", "delta": "x"}) == Delta("empty")


def test_the_first_event_tells_the_response_id():
    created = {"type": "response.created", "response": {"id": "resp_1", "usage": None}}
    assert one(API, created) == Delta("empty", response_id="resp_1")


def test_the_name_of_a_called_tool_is_a_token_and_a_void_message_is_none():
    call = {"type": "function_call", "name": "f", "arguments": ""}
    assert one(API, {"type": "response.output_item.added", "item": call}) == Delta("tool", "f")
    message = {"type": "message", "content": []}
    assert one(API, {"type": "response.output_item.added", "item": message}) == Delta("empty")


def test_log_probabilities_count_the_tokens_of_a_delta():
    event = {"type": "response.output_text.delta", "delta": "AB", "logprobs": [{}, {}]}
    assert one(API, event).n_tokens == 2


def test_the_last_event_tells_usage_with_its_details():
    details = {"input_tokens_details": {"cached_tokens": 17}}
    details |= {"output_tokens_details": {"reasoning_tokens": 8}}
    delta = last(status="completed", usage={"input_tokens": 18, "output_tokens": 10, **details})
    assert delta.usage == UsageCount(18, 10, 17, 8)
    assert (delta.kind, delta.finish_reason, delta.response_id) == ("finish", "completed", "resp_1")


@pytest.mark.parametrize("event_type", ["response.incomplete", "response.completed"])
def test_a_response_cut_at_its_limit_finished_by_length_whatever_the_event_is_called(
    event_type: str,
):
    why = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert last(event_type, **why).finish_reason == "length"


def test_a_response_cut_by_a_filter_says_so():
    why = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    assert last("response.incomplete", **why).finish_reason == "content_filter"


def test_a_failed_response_is_an_error_with_its_code():
    error = {"code": "rate_limit_exceeded", "message": "Slow down."}
    delta = last("response.failed", status="failed", error=error)
    assert (delta.kind, delta.error, delta.error_code) == ("error", error["message"], error["code"])
    assert last("response.failed", error=None).kind == "error"


def test_an_error_event_of_this_api_has_its_sentence_beside_the_type():
    event = {"type": "error", "code": "server_error", "message": "boom", "param": None}
    delta = one(API, event)
    assert (delta.error, delta.error_code) == ("boom", "server_error")


def test_timings_of_llama_cpp_lie_beside_the_response():
    timings = {
        "cache_n": 17,
        "prompt_n": 1,
        "prompt_ms": 4.6,
        "predicted_n": 2,
        "predicted_ms": 1.3,
    }
    delta = last(beside={"timings": timings}, usage={"input_tokens": 18, "output_tokens": 2})
    assert delta.timings == ServerTimings(None, 4600, 1300)
    assert delta.usage == UsageCount(18, 2, 17)


def test_metrics_of_vllm_lie_in_the_response():
    metrics = {"queue_time_ms": 12.3, "time_to_first_token_ms": 85.2, "generation_time_ms": 99.0}
    assert last(metrics=metrics).timings == ServerTimings(12_300, 85_200, 99_000)


def test_a_whole_response_has_the_texts_of_its_items_and_ends():
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "short"}]},
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "A"}]},
        {"type": "message", "content": [{"type": "refusal", "refusal": "No"}]},
        {"type": "function_call", "name": "f", "arguments": "{}"},
    ]
    usage = {"input_tokens": 3, "output_tokens": 9}
    document = {"id": "resp_1", "status": "completed", "output": output, "usage": usage}
    deltas = whole(API, {**document, "error": None})
    assert texts(deltas) == [
        ("reasoning", "short"),
        ("reasoning", "hm"),
        ("content", "A"),
        ("refusal", "No"),
        ("tool", "f{}"),
    ]
    assert deltas[-1].usage == UsageCount(3, 9)


def test_a_whole_response_that_failed_is_an_error():
    (delta,) = whole(API, {"output": [], "status": "failed", "error": {"message": "boom"}})
    assert delta.error == "boom"
