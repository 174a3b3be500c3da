"""Ollama's /api/chat and /api/generate: what each line means."""

from typing import Any

import pytest
from wire_events import decoded, one, texts, whole

from loadgen.wire.api import Delta, ServerTimings, UsageCount
from loadgen.wire.framing import ProtocolError

COUNTS = {"prompt_eval_count": 26, "eval_count": 298, "total_duration": 5_191_566_416}
TIMES = {"load_duration": 2_154_458, "prompt_eval_duration": 383_809_000}
TIMES |= {"eval_duration": 4_799_921_000}
LAST = {"done": True, "done_reason": "stop", **COUNTS, **TIMES}


def chat(done: bool = False, **message: Any) -> dict[str, Any]:
    at = {"model": "m", "created_at": "2026-11-30T10:00:00.5Z"}
    return {**at, "message": {"role": "assistant", **message}, "done": done}


def test_content_thoughts_and_tools_are_tokens_of_their_kind():
    assert one("ollama_chat", chat(content="A")) == Delta("content", "A")
    assert one("ollama_chat", chat(content="", thinking="hm")) == Delta("reasoning", "hm")
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    assert one("ollama_chat", chat(content="", tool_calls=[call])) == Delta("tool", 'f{"x":1}')


def test_generate_has_response_and_thoughts():
    assert one("ollama_generate", {"response": "A", "done": False}) == Delta("content", "A")
    thought = {"response": "", "thinking": "hm", "done": False}
    assert one("ollama_generate", thought) == Delta("reasoning", "hm")


def test_a_line_with_thoughts_and_content_is_one_token_event_of_what_the_reader_sees():
    assert one("ollama_chat", chat(content="A", thinking="hm")) == Delta("content", "Ahm")


@pytest.mark.parametrize("message", [{"content": ""}, {"content": None}, {"tool_calls": None}, {}])
def test_a_line_without_text_is_empty(message: dict[str, Any]):
    assert one("ollama_chat", chat(**message)) == Delta("empty")
    assert one("ollama_chat", {"message": None, "done": False}) == Delta("empty")


def test_log_probabilities_count_the_tokens_of_a_line():
    line = {**chat(content="AB"), "logprobs": [{"token": "A"}, {"token": "B"}]}
    assert one("ollama_chat", line).n_tokens == 2


@pytest.mark.parametrize("api", ["ollama_chat", "ollama_generate"])
def test_the_last_line_tells_counts_and_times(api: str):
    delta = one(api, {**LAST, "response": "", "message": {"content": ""}})
    assert delta.usage == UsageCount(26, 298)
    assert delta.timings == ServerTimings(2_154, 383_809, 4_799_921)
    assert (delta.kind, delta.finish_reason) == ("finish", "stop")


def test_the_part_of_the_prompt_that_a_cache_had_is_told_by_new_servers():
    delta = one("ollama_chat", {**chat(content=""), **LAST, "prompt_eval_cached_count": 20})
    assert delta.usage == UsageCount(26, 298, 20)


def test_a_last_line_with_text_is_a_token_and_the_end():
    delta = one("ollama_chat", {**chat(content="A"), **LAST, "done_reason": "length"})
    assert (delta.kind, delta.text, delta.finish_reason) == ("content", "A", "length")


def test_an_old_server_ends_without_a_reason():
    line = {**chat(content=""), "done": True, **COUNTS}
    assert [d.kind for d in decoded("ollama_chat", line)] == ["empty", "done"]


def test_a_whole_answer_has_a_text_of_each_kind_and_its_end():
    document = {**chat(content="A", thinking="hm"), **LAST}
    deltas = whole("ollama_chat", document)
    assert sorted(texts(deltas)) == [("content", "A"), ("reasoning", "hm")]
    assert deltas[-1].usage == UsageCount(26, 298)
    assert deltas[-1].finish_reason == "stop"
    assert texts(whole("ollama_generate", {**LAST, "response": "A"})) == [("content", "A")]


def test_a_whole_answer_that_is_not_done_is_none():
    with pytest.raises(ProtocolError, match='not "done"'):
        whole("ollama_generate", {"response": "A", "done": False})
