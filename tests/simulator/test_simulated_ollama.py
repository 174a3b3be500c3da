"""Ollama's API as the simulator speaks it."""

import json
from typing import Any

from simulated import answered

from simulator.ask import ApiError
from simulator.ollama import refuse

CHAT, GENERATE = "/api/chat", "/api/generate"


def ask(path: str, **fields: Any) -> dict[str, Any]:
    prompt = {"prompt": "a b c"} if path == GENERATE else {"messages": [{"content": "a b c"}]}
    options = {"num_predict": 3, "ignore_eos": True}
    return {"model": "null", **prompt, "options": options, **fields}


def lines(raw: bytes) -> list[dict[str, Any]]:
    assert raw.endswith(b"\n")
    return [json.loads(line) for line in raw.splitlines()]


def test_chat_streams_without_being_told_to():
    *pieces, last = lines(answered(CHAT, ask(CHAT)))
    assert [set(piece) for piece in pieces] == [{"model", "created_at", "message", "done"}] * 3
    assert all(piece["done"] is False for piece in pieces)
    assert [len(piece["message"]["content"].split()) for piece in pieces] == [1, 1, 1]
    assert last["message"] == {"role": "assistant", "content": ""}
    assert (last["done"], last["done_reason"]) == (True, "length")
    assert (last["prompt_eval_count"], last["eval_count"]) == (3, 3)


def test_durations_are_the_engines_in_ns():
    settings = ("step_ns=3000000", "sequence_ns=0", "prefill_token_ns=1000000")
    last = lines(answered(CHAT, ask(CHAT), *settings))[-1]
    assert last["prompt_eval_duration"] == 6_000_000
    assert last["eval_duration"] >= 6_000_000
    parts = last["prompt_eval_duration"] + last["eval_duration"]
    assert last["total_duration"] >= parts
    assert last["load_duration"] == 0


def test_generate_has_response_instead_of_message():
    *pieces, last = lines(answered(GENERATE, ask(GENERATE)))
    assert [len(piece["response"].split()) for piece in pieces] == [1, 1, 1]
    assert (last["response"], last["done"]) == ("", True)


def test_thoughts_have_a_field_of_their_own_unless_switched_off():
    settings = ("thinking_share=0.67",)
    thoughts = lines(answered(CHAT, ask(CHAT), *settings))
    assert ["thinking" in line["message"] for line in thoughts] == [True, True, False, False]
    assert thoughts[0]["message"]["content"] == ""
    unthought = lines(answered(GENERATE, ask(GENERATE, think=False), *settings))
    assert not any("thinking" in line for line in unthought)
    whole = json.loads(answered(GENERATE, ask(GENERATE, stream=False), *settings))
    assert (len(whole["thinking"].split()), len(whole["response"].split())) == (2, 1)


def test_a_whole_answer_is_one_object():
    answer = json.loads(answered(CHAT, ask(CHAT, stream=False)))
    assert len(answer["message"]["content"].split()) == 3
    assert (answer["done"], answer["eval_count"]) == (True, 3)


def test_no_limit_is_minus_one_or_nothing():
    for options in ({}, {"num_predict": -1}):
        body = ask(CHAT, options=options, stream=False)
        answer = json.loads(answered(CHAT, body, "natural_tokens=7", "natural_spread=0"))
        assert (answer["eval_count"], answer["done_reason"]) == (7, "stop")


def test_an_error_is_a_sentence_and_ends_a_stream():
    assert refuse(ApiError(404, "no such model", "x")) == (404, b'{"error":"no such model"}')
    *_, last = lines(answered(CHAT, ask(CHAT, x_sim_fault="error_after=2")))
    assert list(last) == ["error"]


def test_the_model_may_carry_its_tag():
    assert answered(CHAT, ask(CHAT, model="null:latest"))
