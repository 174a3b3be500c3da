"""What chat and completions answers carry on request."""

import json
from typing import Any

import pytest
from simulated import CHAT, COMPLETIONS, answered, events

from simulator.answer import Finish, Times, Usage
from simulator.openai_extras import request_metrics

BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "a b c"}]},
    COMPLETIONS: {"prompt": "a b c"},
}


def ask(path: str, **fields: Any) -> dict[str, Any]:
    return {**BODIES[path], "max_tokens": 3, "ignore_eos": True, "stream": True, **fields}


def choices(raw: bytes) -> list[dict[str, Any]]:
    return [event["choices"][0] for event in events(raw)[:-1] if event["choices"]]


def test_each_chat_event_tells_its_tokens_log_probabilities():
    _, *tokens, _ = choices(answered(CHAT, ask(CHAT, logprobs=True)))
    for choice in tokens:
        (entry,) = choice["logprobs"]["content"]
        assert entry["token"] == choice["delta"]["content"]
        assert bytes(entry["bytes"]).decode() == entry["token"]
        assert -4 <= entry["logprob"] < 0


def test_completions_have_the_older_shape_with_offsets():
    *tokens, _ = choices(answered(COMPLETIONS, ask(COMPLETIONS, logprobs=0)))
    text = ""
    for choice in tokens:
        assert choice["logprobs"]["tokens"] == [choice["text"]]
        assert choice["logprobs"]["text_offset"] == [len(text)]
        text += choice["text"]


def test_several_tokens_of_a_step_are_listed_one_by_one():
    drafts = ("draft_tokens=3", "acceptance=1", "max_batch=8")
    body = ask(COMPLETIONS, max_tokens=5, logprobs=1, return_token_ids=True)
    *tokens, _ = choices(answered(COMPLETIONS, body, *drafts))
    assert [len(choice["token_ids"]) for choice in tokens] == [1, 4]
    many = tokens[1]["logprobs"]
    assert "".join(many["tokens"]) == tokens[1]["text"]
    assert len(many["token_logprobs"]) == len(many["text_offset"]) == 4


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_token_ids_are_the_same_streamed_or_whole(path: str):
    streamed = choices(answered(path, ask(path, return_token_ids=True)))
    ids = [one for choice in streamed for one in choice.get("token_ids", [])]
    whole = json.loads(answered(path, ask(path, return_token_ids=True, stream=False)))
    assert whole["choices"][0]["token_ids"] == ids
    assert len(ids) == 3


def test_prompt_ids_are_told_once():
    body = {"prompt": [5, 6, 7], "return_token_ids": True, "stream": True, "max_tokens": 3}
    told = [choice.get("prompt_token_ids") for choice in choices(answered(COMPLETIONS, body))]
    assert told[0] == [5, 6, 7]
    assert not any(told[1:])


def test_running_usage_counts_up_from_nothing():
    options = {"include_usage": True, "continuous_usage_stats": True}
    stream = events(answered(CHAT, ask(CHAT, stream_options=options)))[:-1]
    assert [event["usage"]["completion_tokens"] for event in stream] == [0, 1, 2, 3, 3, 3]


def test_request_metrics_are_vllms():
    finish = Finish(Usage(9, 0, 5, 0), Times(2_000_000, 30_000_000, 20_000_000))
    assert request_metrics(finish) == {
        "time_to_first_token_ms": 30.0,
        "generation_time_ms": 20.0,
        "queue_time_ms": 2.0,
        "mean_itl_ms": 5.0,
        "tokens_per_second": 100.0,
    }
    single = request_metrics(Finish(Usage(9, 0, 1, 0), Times(0, 0, 0)))
    assert (single["mean_itl_ms"], single["tokens_per_second"]) == (None, None)


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_request_metrics_ride_on_the_usage_event(path: str):
    usage = {"stream_options": {"include_usage": True}}
    stream = events(answered(path, ask(path, **usage), "request_metrics=true"))[:-1]
    assert [event for event in stream if "metrics" in event] == [stream[-1]]
    whole = json.loads(answered(path, ask(path, stream=False, include_metrics=True)))
    assert whole["metrics"]["generation_time_ms"] >= 0
    assert not any("metrics" in event for event in events(answered(path, ask(path, **usage)))[:-1])
