"""Text Generation Inference: one event, one token."""

from typing import Any

import pytest
from wire_events import decoded, one, whole

from loadgen.wire.api import Delta, UsageCount

DETAILS = {"finish_reason": "length", "generated_tokens": 20, "seed": None, "input_length": 7}


def event(text: Any, special: bool = False, **last: Any) -> dict[str, Any]:
    token = {"id": 5, "text": text, "logprob": -0.1, "special": special}
    return {"index": 9, "token": token, "generated_text": None, "details": None, **last}


def test_each_event_is_one_token_and_its_index_is_no_choice():
    assert one("tgi", event("A")) == Delta("content", "A", 1)


def test_a_special_token_and_half_a_character_are_no_text_but_are_counted():
    assert one("tgi", event("</s>", special=True)) == Delta("empty", "", 1)
    assert one("tgi", event("")) == Delta("empty", "", 1)


def test_the_last_token_tells_the_counts_and_why_it_is_the_last():
    delta = one("tgi", event("Z", generated_text="A…Z", details=DETAILS))
    assert delta == Delta("content", "Z", 1, usage=UsageCount(7, 20), finish_reason="length")


@pytest.mark.parametrize("word", ["eos_token", "stop_sequence"])
def test_a_special_last_token_is_the_finish(word: str):
    details = {**DETAILS, "finish_reason": word}
    delta = one("tgi", event("</s>", special=True, generated_text="A", details=details))
    assert (delta.kind, delta.n_tokens, delta.finish_reason) == ("finish", 1, "stop")


def test_without_details_the_whole_text_marks_the_end():
    last, done = decoded("tgi", event("Z", generated_text="AZ"))
    assert (last, done) == (Delta("content", "Z", 1), Delta("done"))


def test_prompt_tokens_are_unknown_to_old_servers():
    details = {"finish_reason": "length", "generated_tokens": 20, "seed": 1}
    assert one("tgi", event("Z", details=details)).usage == UsageCount(None, 20)


@pytest.mark.parametrize(
    ("kind", "code"), [("overloaded", 429), ("generation", 424), ("new", None), (None, None)]
)
def test_an_error_has_the_status_of_its_type(kind: str | None, code: int | None):
    delta = one("tgi", {"error": "Model is overloaded", "error_type": kind})
    assert (delta.error, delta.error_code) == ("Model is overloaded", code)


def test_a_whole_answer_counts_by_its_details():
    prefill = [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
    tokens = [{"id": 3, "text": "A", "special": False}]
    details = {"finish_reason": "length", "generated_tokens": 1}
    details |= {"prefill": prefill, "tokens": tokens}
    (delta,) = whole("tgi", {"generated_text": "A", "details": details})
    assert delta == Delta("content", "A", 1, usage=UsageCount(2, 1), finish_reason="length")


def test_a_whole_answer_without_details_is_whole_all_the_same():
    assert whole("tgi", {"generated_text": "A"}) == [Delta("content", "A"), Delta("done")]
