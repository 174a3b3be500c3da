"""What fuzzing has found, each in its smallest form."""

import json
import tracemalloc
from typing import Any

import pytest
from exchanges import DONE, SEND_NS, T0_NS, close_meta, content, open_meta, sse
from fuzzing import CLOSE_HEAD, check_answer, check_document, check_event

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.framing import MAX_EVENT_BYTES, WireEvent
from loadgen.wire.registry import APIS
from storage.records import RequestRow

A = content("A")
SECONDS_NOT_HOURS = pytest.mark.timeout(60)
"""Not a speed: what these bytes once took grew with their square."""


def answered(body: bytes) -> RequestRow:
    return check_answer("openai_chat", [CLOSE_HEAD + body])


def refused(body: bytes, status: bytes = b"500 Oh") -> RequestRow:
    head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
    return check_answer("openai_chat", [head + body])


def counted(n: Any) -> bytes:
    return A + sse({"choices": [], "usage": {"prompt_tokens": n, "completion_tokens": n}}) + DONE


@pytest.mark.parametrize("n", [True, False, -1, 2**31, 2**63, 2**64 - 1, 10**30, 1.5, "7", [7]])
def test_a_token_count_that_is_none_is_unknown(n: Any):
    row = answered(counted(n))
    assert (row.outcome, row.output_tokens, row.prompt_tokens) == ("complete", None, None)


def test_a_token_count_that_only_a_lenient_parser_reads_is_unknown():
    row = answered(counted(10**30).replace(b'"choices"', b'"x":NaN,"choices"', 2))
    assert (row.outcome, row.output_tokens) == ("complete", None)


@pytest.mark.parametrize(
    "fields",
    [
        rb'"id":"\ud800","choices":[{"index":0,"delta":{"content":"A"}}]',
        rb'"choices":[{"index":0,"delta":{"content":"A"},"finish_reason":"\ud800"}]',
        rb'"error":"\ud800"',
        rb'"error":{"message":"\ud800","code":"\ud800"}',
        rb'"error":{"any":"\ud800"}',
    ],
)
def test_half_a_surrogate_pair_in_what_the_row_keeps_does_not_stop_the_store(fields: bytes):
    answered(b"data: {" + fields + b"}\n\n" + DONE)


@pytest.mark.parametrize(
    "value",
    [
        b"[" * 900 + b"1" + b"]" * 900,
        b'{"a":' * 400 + b"1" + b"}" * 400,
        b'{"error":' * 900 + b"1" + b"}" * 900,
        b'{"a":' + b"9" * 40 + b',"b":NaN}',
        b"[" * 5000,
    ],
    ids=["lists", "objects", "errors", "a big number", "no JSON"],
)
def test_an_error_of_any_depth_and_size_is_one_sentence(value: bytes):
    assert answered(b'data: {"error":' + value + b"}\n\n").outcome in ("stream_error", "malformed")
    assert answered(b"event: error\ndata: " + value + b"\n\n").outcome == "stream_error"
    row = refused(value)
    assert row.outcome == "http_error"
    assert row.detail


@SECONDS_NOT_HOURS
@pytest.mark.parametrize("tag", [b"<html><", b"<title>", b"<html><script>", b"<style ", b"&lt;"])
def test_a_page_of_unclosed_tags_is_read_in_time_that_grows_with_its_length(tag: bytes):
    assert refused(tag * (1_000_000 // len(tag))).outcome == "http_error"
    assert refused(tag * (1_000_000 // len(tag)), b"200 OK").outcome in ("malformed", "empty")


@SECONDS_NOT_HOURS
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 ", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nA: ", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nA", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\n", b"".join(b"A%d: x\r\n" % i for i in range(6000))),
    ],
    ids=["reason", "value", "name", "lines"],
)
def test_a_head_without_an_end_is_no_http(head: bytes, piece: bytes):
    row = check_answer("openai_chat", [head, *[piece] * 64])
    assert row.outcome == "malformed"
    assert "head" in str(row.detail)


def test_a_name_of_a_megabyte_is_not_kept_whole():
    long = "x" * 1_000_000
    row = answered(
        sse({"id": long, "choices": [{"delta": {"content": "A"}, "finish_reason": long}]})
    )
    assert len(json.dumps(row.to_dict())) < 5_000


@pytest.mark.parametrize("index", [True, 2**64 - 1, -1, 1.5, None, "1"])
def test_an_index_that_is_none_is_that_of_the_first_choice_or_a_number(index: Any):
    check_event(
        "openai_chat",
        WireEvent("message", sse({"choices": [{"index": index, "delta": {}}]})[6:-2]),
    )


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("value", [[], {}, [[]], 5, True])
def test_a_word_that_is_none_is_no_key_to_look_up(api: str, value: Any):
    for key in ("type", "object", "status", "stop_type", "done_reason", "finish_reason"):
        check_event(api, WireEvent("message", json.dumps({key: value}).encode()))
        check_document(api, {key: value})


ENDLESS = {
    "a line": (b"data: ", b"x" * 65_536),
    "an event": (b"", (b"data: " + b"x" * 1000 + b"\n") * 65),
    "an event's name": (b"event: ", b"x" * 65_536),
    "a comment": (b": ", b"x" * 65_536),
    "a page": (b"<html>", b"<p>x" * 16_384),
    "comments": (b"", (b": " + b"x" * 1000 + b"\n") * 65),
}


@pytest.mark.parametrize(("begin", "more"), ENDLESS.values(), ids=ENDLESS)
def test_what_never_ends_takes_no_more_memory_than_its_limit(begin: bytes, more: bytes):
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS, 0, 0, CLOSE_HEAD + begin)
    tracemalloc.start()
    for _ in range(5 * MAX_EVENT_BYTES // 4 // len(more)):
        decoder.read(SEND_NS, 0, 0, more)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3.5 * MAX_EVENT_BYTES
    assert decoder.close(close_meta("eof")).n_chunks == 0
