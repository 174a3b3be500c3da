"""Events that break a naive reader: nulls, wrong types, broken JSON, broken text."""

import pytest
from exchanges import DONE, FINISH, content, decode_bodies, sse

A, B = content("A"), content("B")


@pytest.mark.parametrize(
    "event",
    [
        sse({"choices": [{"index": 0, "delta": None}]}),
        sse({"choices": None}),
        sse({"choices": [None]}),
        sse({"choices": {}}),
        sse({"choices": [{"index": None, "delta": {"content": None}}], "usage": None}),
        sse({"choices": [{"delta": {"content": 5, "tool_calls": 5}}], "usage": 5, "id": 5}),
        sse(None),
        sse({}),
    ],
)
def test_29_nulls_and_nonsense_values_are_empty_events(event: bytes):
    got = decode_bodies((5, event), (10, content("A", usage=None)), (20, DONE))
    assert got.ms == [10]
    assert (got.row.outcome, got.row.other_events) == ("complete", {"empty": 1, "done": 1})


def test_broken_json_is_malformed_and_the_other_tokens_stay():
    got = decode_bodies((10, A), (20, b"data: {oops\n\n"), (30, B), (40, FINISH + DONE))
    assert got.row.outcome == "malformed"
    assert got.row.detail == "An event is no JSON: {oops"
    assert got.ms == [10, 30]
    assert got.row.other_events["malformed"] == 1


def test_json_that_is_no_object_is_malformed():
    assert decode_bodies((10, b"data: 5\n\n"), (20, DONE)).row.outcome == "malformed"


@pytest.mark.parametrize(
    "text", [rb"half a pair \ud83d", b"broken \xff utf-8", rb"tab \t and \u00e9"]
)
def test_text_that_only_a_strict_parser_refuses_is_a_token(text: bytes):
    body = b'data: {"choices":[{"index":0,"delta":{"content":"' + text + b'"}}]}\n\n'
    got = decode_bodies((10, body), (20, DONE))
    assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_a_log_probability_of_minus_infinity_is_parsed():
    body = b'data: {"choices":[{"delta":{"content":"A"},"logprobs":{"content":[-Infinity]}}]}\n\n'
    assert decode_bodies((10, body), (20, DONE)).n_tokens == [1]
