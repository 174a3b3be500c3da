"""From everything one exchange has shown to its row of `requests`."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from loadgen.answer import Answer
from loadgen.arrival import ArrivalClock
from loadgen.http_body import HttpAnswer
from loadgen.outcome import Seen, judge
from loadgen.wire.error_text import error_of_json, is_error, sentence_of_body
from storage.records import RequestRow

_ONE_ANSWER = "one JSON document, which has no first token to time"


@dataclass(slots=True)
class Exchange:
    """What is known of one request; filled by exchange.ExchangeDecoder."""

    meta: dict[str, Any]  # of its OPEN record
    clock: ArrivalClock
    http: HttpAnswer = field(default_factory=HttpAnswer)
    answer: Answer = field(default_factory=Answer)
    document: bytearray = field(default_factory=bytearray)  # the body while it held no event
    problem: str | None = None
    headers_us: int | None = None
    first_token_us: int | None = None
    first_visible_us: int | None = None
    last_token_us: int | None = None
    n_shared: int = 0

    @property
    def send_us(self) -> int | None:
        """When the request began; None if it never did."""
        return self.clock.us(self.meta.get("send_ns"))


def request_row(exchange: Exchange, close: dict[str, Any]) -> RequestRow:
    """The finished row; `close` is the CLOSE record's meta."""
    outcome, detail = judge(_seen(exchange, close))
    clock = exchange.clock
    return RequestRow(
        **_asked(exchange),
        outcome=outcome,
        detail=detail,
        send_us=None if outcome == "not_sent" else exchange.send_us,
        end_us=clock.us(close["end_ns"]) or 0,
        **_connection(close),
        first_byte_us=clock.first_us,
        headers_us=exchange.headers_us,
        first_token_us=exchange.first_token_us,
        first_visible_us=exchange.first_visible_us,
        last_token_us=exchange.last_token_us,
        http_status=exchange.http.status,
        **_said(exchange.answer),
        n_shared=exchange.n_shared,
        n_missing_stamps=clock.n_missing,
        bytes_received=clock.bytes_received,
    )


def _asked(exchange: Exchange) -> dict[str, Any]:
    """What was meant to happen, from the OPEN record."""
    meta, clock = exchange.meta, exchange.clock
    same = ("request_id", "x_request_id", "worker", "stage", "phase")
    return {
        **{name: meta[name] for name in same},
        "due_us": clock.us(meta["due_ns"]),
        "dispatched_us": clock.us(meta["dispatched_ns"]),
        "prompt_tokens_planned": meta.get("prompt_tokens_planned"),
        "max_tokens": meta.get("max_tokens"),
    }


def _connection(close: dict[str, Any]) -> dict[str, Any]:
    """How the connection came about; the durations of its phases from ns to µs."""
    phases = {f"{name}_us": close.get(f"{name}_ns") for name in ("dns", "connect", "tls")}
    return {
        "conn_reused": close.get("conn_reused"),
        "reconnects": close.get("reconnects") or 0,
        **{name: None if ns is None else ns // 1000 for name, ns in phases.items()},
    }


def _said(answer: Answer) -> dict[str, Any]:
    """What the server's events amount to."""
    usage = answer.usage
    first_chunk_tokens = answer.first_chunk_tokens
    if first_chunk_tokens is None and 0 < answer.n_chunks == usage.output_tokens:
        first_chunk_tokens = 1  # as many events as tokens: each event is one
    return {
        **usage._asdict(),
        "token_source": answer.token_source,
        "response_id": answer.response_id,
        "finish_reason": answer.finish_reason,
        "n_chunks": answer.n_chunks,
        "first_chunk_tokens": first_chunk_tokens,
        "other_events": answer.other_events,
    }


def _seen(exchange: Exchange, close: dict[str, Any]) -> Seen:
    http, answer = exchange.http, exchange.answer
    document, is_error = _read_document(exchange)
    return Seen(
        cause=close["cause"],
        detail=close.get("detail"),
        status=http.status,
        reason=http.reason,
        retry_after=http.headers.get("retry-after"),
        content_type=http.content_type,
        document=document,
        document_is_error=is_error,
        problem=http.problem or exchange.problem,
        stream_error=answer.error,
        stream_error_code=answer.error_code,
        body_complete=http.complete or (http.ends_at_close and close["cause"] in ("done", "eof")),
        ended=answer.ended,
        finish_reason=answer.finish_reason,
        n_chunks=answer.n_chunks,
    )


def _read_document(exchange: Exchange) -> tuple[str | None, bool]:
    """(what a body that is no event stream says, whether it says that something failed)."""
    body, http = bytes(exchange.document), exchange.http
    if not body.strip() or (http.is_stream and exchange.answer.n_events):
        return None, False
    if http.coding:
        return f"a body compressed with {http.coding}, although identity was asked for", False
    if not http.is_stream:
        return sentence_of_body(body), True
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return sentence_of_body(body), False
    if is_error(value):
        return error_of_json(value)[0], True
    is_answer = isinstance(value, dict) and "choices" in value
    return (_ONE_ANSWER if is_answer else sentence_of_body(body)), False
