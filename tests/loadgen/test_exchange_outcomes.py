"""How a request ended: the connection's cause and the server's bytes make one outcome."""

from typing import Any

import pytest
from exchanges import (
    DONE,
    END,
    HEAD,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    decode_bodies,
    decode_reads,
    open_meta,
)

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import RequestRow

A = content("A")


def answer(status: str, body: bytes, *headers: str, cause: str = "done") -> RequestRow:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"
    return decode_reads([(3, head), (4, body)], cause=cause).row


def ended(cause: str, meta: dict[str, Any] | None = None, **end: Any) -> RequestRow:
    decoder = ExchangeDecoder(APIS["openai_chat"], meta or open_meta(), T0_NS)
    return decoder.close(close_meta(cause, **end))


def test_a_request_that_was_not_sent_has_no_send_instant():
    row = ended("not_sent", open_meta(send_ns=None), detail="8 streams were open")
    assert (row.outcome, row.detail) == ("not_sent", "8 streams were open")
    assert row.send_us is None
    assert row.dispatched_us == 1_000_000


@pytest.mark.parametrize("cause", ["connect_failed", "tls_failed"])
def test_a_connection_that_was_not_made_keeps_the_transports_sentence(cause: str):
    row = ended(cause, detail="127.0.0.1:9 refused the connection")
    assert (row.outcome, row.detail) == ("connect_failed", "127.0.0.1:9 refused the connection")
    assert row.send_us == 1_000_000
    assert row.first_byte_us is None


@pytest.mark.parametrize("cause", ["timeout", "cancelled", "reset"])
def test_a_stream_cut_from_our_side_or_by_a_reset_keeps_its_tokens(cause: str):
    got = decode_reads([(1, HEAD), (10, chunk(A)), (20, chunk(A))], cause=cause)
    assert got.row.outcome == cause
    assert got.row.n_chunks == 2
    assert "after 2 token events" in str(got.row.detail)


def test_the_transports_own_sentence_is_kept():
    assert ended("timeout", detail="no byte for 120 s").detail == "no byte for 120 s"


def test_a_close_without_a_byte_is_a_reset():
    row = ended("eof")
    assert row.outcome == "reset"
    assert row.detail == "The server closed the connection without an answer."


def test_a_cut_before_the_first_token_is_truncated():
    row = decode_reads([(1, HEAD), (2, b"5\r\ndat")], cause="eof").row
    assert row.outcome == "truncated"


def test_a_200_without_a_byte_of_body_is_empty():
    assert answer("200 OK", b"").outcome == "empty"
    assert decode_reads([(1, HEAD), (2, END)]).row.outcome == "empty"
    assert decode_reads([(1, b"HTTP/1.1 200 OK\r\n\r\n")], cause="eof").row.outcome == "empty"


def test_a_stream_of_comments_alone_is_empty():
    assert decode_bodies((5, b": ping\n\n")).row.outcome == "empty"


def test_a_body_may_last_until_the_connection_closes():
    head = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    got = decode_reads([(1, head), (10, A), (20, A + DONE)], cause="eof")
    assert (got.row.outcome, got.ms) == ("complete", [10, 20])


def test_an_interim_answer_is_skipped():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    got = decode_reads([(1, early), (2, HEAD), (10, chunk(A + DONE) + END)])
    assert (got.row.outcome, got.row.http_status) == ("complete", 200)
    assert got.row.first_byte_us == 1_001_000
    assert got.row.headers_us == 1_002_000


def test_an_error_document_with_status_200_is_a_stream_error():
    row = answer(
        "200 OK", b'{"error":{"message":"no such model"}}', "Content-Type: application/json"
    )
    assert (row.outcome, row.detail) == ("stream_error", "no such model")


@pytest.mark.parametrize(
    ("content_type", "body", "says"),
    [
        ("text/html", b"<html><head><title>Sign in</title></head><p>Hi", "Sign in"),
        ("text/plain", b"It works!\n", "It works!"),
    ],
)
def test_a_page_with_status_200_is_malformed_and_quoted(content_type: str, body: bytes, says: str):
    row = answer("200 OK", body, f"Content-Type: {content_type}; charset=utf-8")
    assert row.outcome == "malformed"
    assert row.detail == f"The answer ({content_type}) holds no event: {says}"


def test_a_request_that_never_began_has_a_sentence_even_if_the_transport_has_none():
    assert ended("not_sent", open_meta(send_ns=None)).detail == "The request was not sent."
    assert ended("connect_failed", detail="").detail == "No connection could be opened."


def test_bytes_that_are_no_http_are_malformed():
    row = decode_reads([(1, b"\x15\x03\x01\x00\x02\x02\x16")], cause="eof").row
    assert row.outcome == "malformed"
    assert str(row.detail).startswith("The answer is no valid HTTP/1.1: ")


def test_broken_chunk_framing_is_malformed_and_keeps_the_tokens_before():
    got = decode_reads([(1, HEAD), (10, chunk(A)), (20, b"zz\r\n" + A)])
    assert got.row.outcome == "malformed"
    assert got.ms == [10]


@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "302 Found"])
def test_any_status_but_success_is_an_http_error_without_tokens(status: str):
    row = answer(status, A, "Content-Type: text/event-stream")
    assert row.outcome == "http_error"
    assert row.http_status == int(status[:3])
    assert row.n_chunks == 0


def test_a_refusal_whose_body_was_cut_is_still_a_refusal():
    head = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\n"
    row = decode_reads([(1, head), (2, b"busy")], cause="timeout").row
    assert (row.outcome, row.detail) == ("http_error", "busy")


def test_a_refusal_without_a_body_is_named_by_its_status_line():
    assert answer("502 Bad Gateway", b"").detail == "HTTP 502 Bad Gateway"


@pytest.mark.parametrize("after", ["2", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_429_is_rate_limited_and_says_when_to_come_back(after: str):
    row = answer("429 Too Many Requests", b'{"detail":"Slow down"}', f"Retry-After: {after}")
    assert row.outcome == "rate_limited"
    assert row.detail == f"Slow down (Retry-After: {after})"
    assert row.retry_after_s == (2.0 if after == "2" else None), "relative to a Date not told"


def test_a_busy_server_says_when_to_come_back_and_under_which_id_it_logged_us():
    headers = ("Retry-After: Wed, 21 Oct 2026 07:28:09 GMT", "Request-Id: req_1")
    row = answer("503 Busy", b"", "Date: Wed, 21 Oct 2026 07:28:00 GMT", *headers)
    assert (row.outcome, row.retry_after_s, row.server_request_id) == ("http_error", 9.0, "req_1")


def test_what_the_server_calls_things_is_kept_in_bounds_and_in_whole_characters():
    long = content("A", id="i" * 9999).replace(
        b'"finish_reason":null', b'"finish_reason":"\\ud800"'
    )
    row = decode_bodies((10, long), (11, DONE)).row
    assert (len(str(row.response_id)), row.finish_reason) == (1000, "?")
    error = b'data: {"error":"half a pair \\ud83d"}\n\n'
    assert decode_bodies((10, error)).row.detail == "half a pair ?"
    refused = answer("429 Slow", b"", f"Retry-After: {'9' * 9999}")
    assert len(str(refused.detail)) == 1000


def test_our_own_id_told_back_is_not_the_servers():
    assert answer("200 OK", A + DONE, "X-Request-Id: run-7").server_request_id is None
    assert answer("200 OK", A + DONE, "X-Request-Id: abc").server_request_id == "abc"


def test_a_stream_says_that_it_was_one_and_a_refusal_that_no_answer_came():
    assert answer("200 OK", A + DONE, "Content-Type: text/event-stream").form == "stream"
    assert answer("500 Oh", b'{"error":"x"}', "Content-Type: application/json").form is None
    assert answer("200 OK", b"").form is None


def test_the_servers_own_timings_are_kept():
    timings = {"prompt_ms": 12.5, "predicted_ms": 80}
    got = decode_bodies((10, A), (20, content("", timings=timings)), (21, DONE))
    row = got.row
    assert (row.server_queue_us, row.server_prefill_us, row.server_decode_us) == (
        None,
        12_500,
        80_000,
    )


def test_the_row_says_how_the_connection_came_about():
    row = ended(
        "reset", conn_reused=False, reconnects=1, dns_ns=1_999, connect_ns=42_000, tls_ns=None
    )
    assert (row.conn_reused, row.reconnects) == (False, 1)
    assert (row.dns_us, row.connect_us, row.tls_us) == (1, 42, None)


def test_the_row_repeats_what_was_asked_for():
    row = ended("eof", open_meta(due_ns=SEND_NS - 5_000_000, dispatched_ns=SEND_NS - 999), end_ms=3)
    assert (row.request_id, row.x_request_id, row.stage, row.phase) == (7, "run-7", 2, "measure")
    assert (row.due_us, row.dispatched_us, row.send_us) == (995_000, 999_999, 1_000_000)
    assert (row.end_us, row.prompt_tokens_planned, row.max_tokens) == (1_003_000, 5, 8)
