"""Answers in one piece: what they say is kept, and that their tokens have no time of their own."""

import json
from typing import Any

import pytest
from exchanges import (
    DONE,
    END,
    MS,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    open_meta,
    usage,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import loadgen.exchange
from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import RequestRow

JSON = "Content-Type: application/json"


def chat(message: dict[str, Any] | None = None, finish: str | None = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message or {"content": "A b"}, "finish_reason": finish}
    return json.dumps({"id": "own-1", "choices": [choice], "usage": usage(2), **more}).encode()


def decode(
    body: bytes,
    *headers: str,
    cut: int | None = None,
    api: str = "openai_chat",
    is_streamed: bool = False,
    is_learning: bool = True,
    cause: str = "done",
    length: int | None = None,
) -> tuple[RequestRow, ExchangeDecoder]:
    """A 200 whose head comes at 3 ms, its body at 10 ms and, if it is cut, at 25 ms."""
    n_bytes = len(body) if length is None else length
    head = "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {n_bytes}", *(headers or (JSON,))])
    meta = open_meta(api, is_streamed=is_streamed)
    decoder = ExchangeDecoder(APIS[api], meta, T0_NS, is_learning)
    decoder.read(SEND_NS + 3 * MS, 0, 0, head.encode() + b"\r\n\r\n")
    decoder.read(SEND_NS + 10 * MS, 0, 0, body[:cut])
    if cut is not None:
        decoder.read(SEND_NS + 25 * MS, 0, 0, body[cut:])
    return decoder.close(close_meta(cause)), decoder


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/x+json"])
def test_one_json_document_is_complete_and_has_no_first_token(is_streamed: bool, content_type: str):
    row, decoder = decode(chat(), f"Content-Type: {content_type}", cut=20, is_streamed=is_streamed)
    assert (row.outcome, row.detail, row.form) == ("complete", None, "whole")
    assert (row.first_byte_us, row.whole_us) == (1_003_000, 1_025_000)
    assert (row.first_token_us, row.first_visible_us, row.last_token_us) == (None, None, None)
    assert (row.n_chunks, row.first_chunk_tokens, row.other_events) == (0, None, {})
    assert len(decoder.take_tokens()) == 0


def test_what_a_document_says_is_kept():
    row, _ = decode(chat(timings={"prompt_ms": 3, "predicted_ms": 4.5}))
    assert (row.prompt_tokens, row.output_tokens, row.token_source) == (5, 2, "usage")
    assert (row.finish_reason, row.response_id, row.n_choices) == ("stop", "own-1", 1)
    assert (row.server_prefill_us, row.server_decode_us) == (3_000, 4_500)


def test_a_document_arrives_with_its_last_byte_not_with_the_end_of_the_chunked_body():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    head = f"HTTP/1.1 200 OK\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for ms, data in [(3, head), (10, chunk(chat()[:9])), (20, chunk(chat()[9:])), (30, END)]:
        decoder.read(SEND_NS + ms * MS, 0, 0, data)
    assert decoder.close(close_meta()).whole_us == 1_020_000


def test_a_document_without_a_content_type_is_one_too():
    row, _ = decode(chat(), "X: y", is_streamed=True)
    assert (row.outcome, row.form) == ("complete", "whole")


def test_the_document_may_last_until_the_connection_closes():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + MS, 0, 0, f"HTTP/1.0 200 OK\r\n{JSON}\r\n\r\n".encode() + chat())
    assert decoder.close(close_meta("eof")).outcome == "complete"


@pytest.mark.parametrize("cause", ["reset", "timeout", "cancelled"])
def test_what_cuts_the_connection_after_the_whole_document_does_not_matter(cause: str):
    assert decode(chat(), cause=cause, length=9_999)[0].outcome == "complete"


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "text/plain"])
def test_a_stream_is_a_stream_whatever_it_is_called(content_type: str):
    body = content("A") + DONE
    row, decoder = decode(body, f"Content-Type: {content_type}", is_streamed=True)
    assert (row.outcome, row.form, row.n_chunks) == ("complete", "stream", 1)
    assert len(decoder.take_tokens()) == 1


def test_a_stream_that_nobody_asked_for_is_measured_as_one():
    row, _ = decode(content("A") + DONE, "Content-Type: text/event-stream")
    assert (row.outcome, row.form, row.whole_us) == ("complete", "stream", None)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"content": ""}, "finish_reason stop"),
        ({"content": None}, "finish_reason stop"),
    ],
)
def test_a_document_without_text_is_empty(message: dict[str, Any], why: str):
    row, _ = decode(chat(message))
    assert (row.outcome, row.detail) == ("empty", f"The answer ({why}) holds no text.")
    assert row.form == "whole"


@pytest.mark.parametrize(
    ("body", "outcome", "detail"),
    [
        (b'{"error":{"message":"no such model"}}', "stream_error", "no such model"),
        (b'{"error":{"code":429,"message":"slow down"}}', "rate_limited", "slow down"),
        (b'{"detail":"Not here"}', "stream_error", "Not here"),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_error_document_with_status_200_is_a_failure(
    body: bytes, outcome: str, detail: str, is_streamed: bool
):
    row, _ = decode(body, is_streamed=is_streamed)
    assert (row.outcome, row.detail) == (outcome, detail)


@pytest.mark.parametrize("body", [b'{"status":"ok"}', b"[1,2]", b'["a"]', b'{"x":NaN,"y":"\xff"}'])
def test_json_that_is_no_answer_is_malformed_and_quoted(body: bytes):
    row, _ = decode(body)
    assert row.outcome == "malformed"
    assert str(row.detail).startswith("The answer is one JSON document, but none of openai_chat (")
    assert str(row.detail).endswith(f"): {body.decode('utf-8', 'replace')}")


@pytest.mark.parametrize("body", [b"<title>Sign in</title>", b'{"choices":[oops', b'"text', b"nul"])
def test_a_body_that_is_no_json_is_malformed_and_quoted(body: bytes):
    row, _ = decode(body)
    assert row.outcome == "malformed"
    said = body.decode().removeprefix("<title>").removesuffix("</title>")
    assert row.detail == f"The answer (application/json) is no JSON document: {said}"


def test_a_document_that_was_cut_off_is_truncated_and_says_where():
    row, _ = decode(chat()[:30], cause="eof", length=9_999)
    assert (row.outcome, row.whole_us) == ("truncated", None)
    assert row.detail == "The answer (application/json) was cut off after 30 bytes."


def test_a_limit_reached_inside_a_document_is_a_timeout():
    row, _ = decode(chat()[:30], cause="timeout", length=9_999)
    assert row.outcome == "timeout"
    assert row.detail == "No end of the answer within the limit, after 30 bytes of it."


def test_a_document_without_an_end_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loadgen.exchange, "MAX_DOCUMENT_BYTES", 50)
    row, decoder = decode(chat({"content": "x" * 99}), cut=20)
    assert (row.outcome, row.form) == ("malformed", "whole")
    assert row.detail == "The answer is one document of more than 16 MiB."
    assert len(decoder.seen.document) == 50


def test_nan_and_a_byte_order_mark_do_not_break_a_document():
    body = b"\xef\xbb\xbf" + chat(extra=float("nan"))
    assert decode(body)[0].outcome == "complete"
    assert decode(body, is_streamed=True)[0].outcome == "complete"


def test_any_cut_of_a_document_gives_the_same_row():
    body = chat({"reasoning": "hm", "content": "é\u2028", "tool_calls": None})
    expected = decode(body)[0]
    for cut in range(len(body)):
        row = decode(body, cut=cut)[0]
        assert row.whole_us == 1_025_000
        row.whole_us = expected.whole_us
        assert row == expected


WORDS = st.sampled_from(
    ["choices", "message", "content", "delta", "text", "usage", "data", "response", "error", "type",
     "output", "finish_reason", "done", "tool_calls", "function", "timings", "generated_text"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=25, deadline=None)
@given(document=st.dictionaries(WORDS, VALUES, max_size=5))
def test_no_document_breaks_the_decoder(api: str, document: dict[str, Any]):
    row, _ = decode(json.dumps(document).encode(), api=api)
    assert row.outcome in ("complete", "empty", "malformed", "stream_error", "rate_limited")
    assert (row.outcome == "complete") == (row.detail is None)
    assert (row.form, row.first_token_us, row.n_chunks) == ("whole", None, 0)


def test_embeddings_are_complete_without_text():
    vectors = [{"object": "embedding", "index": i, "embedding": [0.1, 0.2]} for i in range(3)]
    counts = {"prompt_tokens": 9, "total_tokens": 9}
    body = json.dumps({"object": "list", "data": vectors, "usage": counts}).encode()
    row, _ = decode(body, api="openai_embeddings", is_streamed=True)
    assert (row.outcome, row.form, row.prompt_tokens) == ("complete", "whole", 9)
    assert row.output_tokens is None


def test_texts_are_kept_by_choice_for_a_tokenizer():
    both = [
        {"index": 0, "message": {"reasoning": "hm", "content": " A"}, "finish_reason": "stop"},
        {"index": 1, "message": {"content": "B"}, "finish_reason": "stop"},
    ]
    _, decoder = decode(json.dumps({"choices": both}).encode(), is_learning=False)
    assert {k: "".join(text) for k, text in decoder.texts.items()} == {0: "hm A", 1: "B"}
    _, decoder = decode(json.dumps({"choices": both}).encode())
    assert decoder.texts == {}


def test_texts_of_a_stream_are_kept_in_their_order():
    body = content("A") + content(" b") + DONE
    _, decoder = decode(body, "Content-Type: text/event-stream", is_learning=False)
    assert decoder.texts == {0: ["A", " b"]}
