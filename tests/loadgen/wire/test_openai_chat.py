"""OpenAI chat and completions: fields and aliases that servers use, beside the usual ones."""

from typing import Any

import pytest
from wire_events import decoded, one, texts, whole

from loadgen.wire.api import Delta, ServerTimings, UsageCount

TIMINGS = {"cache_n": 60, "prompt_n": 8, "prompt_ms": 43.237, "predicted_n": 25}
TIMINGS |= {"predicted_ms": 238.74}


def chat(delta: Any, finish: str | None = None, **chunk: Any) -> Delta:
    return one(
        "openai_chat", {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **chunk}
    )


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_has_two_names(name: str):
    assert chat({name: "hm", "content": None}) == Delta("reasoning", "hm")


def test_reasoning_under_both_names_is_meant_once():
    assert chat({"reasoning": "hm", "reasoning_content": "hm"}) == Delta("reasoning", "hm")


def test_a_delta_that_ends_the_reasoning_and_begins_the_content_is_content_with_both_texts():
    assert chat({"reasoning": "hm.", "content": "A"}) == Delta("content", "hm.A")


def test_content_may_come_in_typed_parts():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    assert chat({"content": [thinking]}) == Delta("reasoning", "hm")
    assert chat({"content": [{"type": "text", "text": "A"}]}) == Delta("content", "A")
    assert chat({"content": [{"type": "text", "text": ""}]}) == Delta("empty")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"function": {"name": "f", "arguments": ""}}, "f"),
        ({"function": {"name": None, "arguments": '{"x":'}}, '{"x":'),
        ({"type": "custom", "custom": {"name": "f", "input": "x"}}, "fx"),
    ],
)
def test_a_named_tool_and_its_arguments_are_tokens(call: dict[str, Any], text: str):
    assert chat({"tool_calls": [{"index": 0, **call}]}) == Delta("tool", text)


@pytest.mark.parametrize(
    "delta",
    [
        None,
        {},
        {"content": None},
        {"content": ""},
        {"tool_calls": None},
        {"tool_calls": [{"index": 0, "function": {"name": "", "arguments": ""}}]},
        {"reasoning": "", "refusal": None},
        {"content": 5},
    ],
)
def test_void_deltas_are_empty(delta: Any):
    assert chat(delta) == Delta("empty")


def test_choices_of_one_chunk_are_kept_apart_and_the_last_has_the_usage():
    listed = [{"index": i, "delta": {"content": "AB"[i]}} for i in (0, 1)]
    first, second = decoded("openai_chat", {"choices": listed, "usage": {"completion_tokens": 2}})
    assert (first.choice, first.usage) == (0, None)
    assert (second.choice, second.usage) == (1, UsageCount(output_tokens=2))


def test_usage_tells_cached_and_reasoning_tokens():
    usage = {"prompt_tokens": 22, "completion_tokens": 10}
    usage |= {"prompt_tokens_details": {"cached_tokens": 21}}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 8}}
    assert chat({}, usage=usage).usage == UsageCount(22, 10, 21, 8)


def test_deepseek_names_the_cached_tokens_otherwise():
    usage = {"prompt_tokens": 22, "completion_tokens": 1, "prompt_cache_hit_tokens": 20}
    assert chat({}, usage=usage).usage == UsageCount(22, 1, 20)


@pytest.mark.parametrize("told", [None, -1, 1.5, "16", {}, []])
def test_a_count_that_is_no_number_of_tokens_is_not_told(told: Any):
    assert chat({}, usage={"completion_tokens": told}).usage == UsageCount()


def test_timings_of_llama_cpp_tell_times_and_counts():
    delta = chat({}, "length", timings=TIMINGS)
    assert delta.timings == ServerTimings(None, 43_237, 238_740)
    assert delta.usage == UsageCount(68, 25, 60)
    assert delta.kind == "finish"


def test_usage_counts_before_timings_do_and_they_fill_what_it_leaves_open():
    usage = {"prompt_tokens": 68, "completion_tokens": 26}
    delta = chat({}, usage=usage, timings=TIMINGS)
    assert (delta.kind, delta.usage) == ("usage", UsageCount(68, 26, 60))


def test_a_void_chunk_with_timings_alone_is_empty():
    assert chat({"content": ""}, timings=TIMINGS).kind == "empty"


def test_metrics_of_vllm_tell_queue_prefill_and_decode():
    metrics = {"time_to_first_token_ms": 85.2, "generation_time_ms": 1240.5}
    metrics |= {"queue_time_ms": 12.3, "mean_itl_ms": 9.1, "tokens_per_second": 103.2}
    chunk = {"choices": [], "usage": {"completion_tokens": 3}, "metrics": metrics}
    delta = one("openai_chat", chunk)
    assert delta.timings == ServerTimings(12_300, 85_200, 1_240_500)
    assert delta.kind == "usage"


@pytest.mark.parametrize("told", [None, "x", -1, float("nan"), True, {}])
def test_a_time_that_is_none_is_not_told(told: Any):
    assert chat({}, metrics={"queue_time_ms": told}).timings is None
    assert chat({}, timings={"prompt_ms": told}).timings is None


def test_a_whole_answer_has_texts_finish_usage_and_times():
    call = {"function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "reasoning_content": "hm", "content": "A", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 68, "completion_tokens": 25}
    document = {"id": "c-1", "choices": [choice], "usage": usage, "timings": TIMINGS}
    deltas = whole("openai_chat", document)
    assert texts(deltas) == [("reasoning", "hm"), ("content", "A"), ("tool", "f{}")]
    assert [d.finish_reason for d in deltas if d.finish_reason] == ["stop"]
    assert deltas[-1].usage == UsageCount(68, 25, 60)
    assert deltas[-1].timings == ServerTimings(None, 43_237, 238_740)


def test_a_whole_answer_that_lists_the_tokens_of_its_only_text_counts_them():
    choice = {"message": {"content": "AB"}, "logprobs": {"content": [{}, {}]}}
    assert whole("openai_chat", {"choices": [choice]})[0].n_tokens == 2
    choice = {"index": 0, "text": "AB", "token_ids": [1, 2, 3], "finish_reason": "length"}
    assert whole("openai_completions", {"choices": [choice]})[0].n_tokens == 3
