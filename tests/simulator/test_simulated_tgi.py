"""Text Generation Inference's API as the simulator speaks it."""

import json
from typing import Any

import pytest
from simulated import answered

from simulator.ask import ApiError, bad_request
from simulator.tgi import refuse

STREAM, WHOLE = "/generate_stream", "/generate"


def ask(**parameters: Any) -> dict[str, Any]:
    return {
        "inputs": "a b c",
        "parameters": {"max_new_tokens": 3, "ignore_eos": True, **parameters},
    }


def events(raw: bytes) -> list[dict[str, Any]]:
    texts = raw.decode().split("\n\n")
    assert texts.pop() == ""
    assert all(text.startswith('data:{"') for text in texts), "no space after the colon"
    return [json.loads(text.removeprefix("data:")) for text in texts]


def test_the_last_token_carries_the_whole_text():
    first, second, last = events(answered(STREAM, ask(details=True, seed=4)))
    assert first == {
        "index": 1, "token": first["token"], "generated_text": None, "details": None,
    }  # fmt: skip
    assert set(first["token"]) == {"id", "text", "logprob", "special"}
    texts = [event["token"]["text"] for event in (first, second, last)]
    assert last["generated_text"] == "".join(texts)
    assert last["details"] == {
        "finish_reason": "length", "generated_tokens": 3, "seed": 4, "input_length": 3,
    }  # fmt: skip


def test_details_are_only_there_if_asked_for():
    assert events(answered(STREAM, ask()))[-1]["details"] is None


def test_a_step_of_several_tokens_is_several_events():
    drafts = ("draft_tokens=3", "acceptance=1", "max_batch=8", "thinking_share=0.5")
    got = events(answered(STREAM, ask(max_new_tokens=6), *drafts))
    assert [event["index"] for event in got] == [1, 2, 3, 4, 5, 6]
    assert [event["generated_text"] is None for event in got] == [True] * 5 + [False]


def test_a_whole_answer_lists_its_tokens():
    answer = json.loads(answered(WHOLE, ask(details=True)))
    details = answer["details"]
    assert answer["generated_text"] == "".join(token["text"] for token in details["tokens"])
    assert (details["generated_tokens"], details["finish_reason"]) == (3, "length")
    assert list(json.loads(answered(WHOLE, ask()))) == ["generated_text"]


def test_an_answer_that_stops_by_itself_met_its_end_token():
    body = ask(ignore_eos=False, max_new_tokens=99, details=True)
    last = events(answered(STREAM, body, "natural_tokens=2", "natural_spread=0"))[-1]
    assert last["details"]["finish_reason"] == "eos_token"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (bad_request("no", None), 422, "validation"),
        (ApiError(429, "no", "SimulatedFault"), 429, "overloaded"),
        (ApiError(400, "no", "SimulatedFault"), 400, "validation"),
        (ApiError(500, "no", "x"), 500, "generation"),
    ],
)
def test_an_error_has_a_type(error: ApiError, status: int, kind: str):
    got, body = refuse(error)
    assert (got, json.loads(body)) == (status, {"error": "no", "error_type": kind})


def test_a_failed_engine_is_an_error_event():
    body = {**ask(), "x_sim_fault": "error_after=1"}
    first, error = events(answered(STREAM, body))
    assert (first["index"], error["error_type"]) == (1, "generation")
