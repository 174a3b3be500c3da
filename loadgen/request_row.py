"""From everything one exchange has shown to its row of `requests`."""

from dataclasses import dataclass, field
from typing import Any, Literal

from loadgen.answer import Answer
from loadgen.answer_headers import retry_after_s, server_request_id
from loadgen.arrival import ArrivalClock
from loadgen.http_body import HttpAnswer
from loadgen.outcome import Seen, judge
from loadgen.wire.api import ServerTimings
from loadgen.wire.error_text import sentence_of_body
from loadgen.wire.event_json import count
from storage.records import RequestRow

MAX_NAME_CHARS = 1000
MAX_DETAIL_CHARS = 1000


@dataclass(slots=True)
class Exchange:
    """What is known of one request; filled by exchange.ExchangeDecoder."""

    meta: dict[str, Any]  # of its OPEN record
    clock: ArrivalClock
    is_streaming: bool = True  # the API's answers hold text, and may come as streams
    http: HttpAnswer = field(default_factory=HttpAnswer)
    answer: Answer = field(default_factory=Answer)
    document: bytearray = field(default_factory=bytearray)  # the body while it held no event
    document_us: int | None = None  # arrival of its last byte so far
    is_whole: bool | None = None  # the body is one document, not events; None: not known yet
    whole_us: int | None = None  # arrival of the whole document, once it was read as JSON
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

    @property
    def is_streamed(self) -> bool:
        """Whether a stream was asked for."""
        return self.is_streaming and self.meta.get("is_streamed", True)

    @property
    def form(self) -> Literal["stream", "whole"] | None:
        """How the answer came; None if none did."""
        if not self.http.is_success:
            return None
        if self.is_whole:
            return "whole"
        return "stream" if self.answer.n_events else None


def request_row(exchange: Exchange, close: dict[str, Any]) -> RequestRow:
    """The finished row; `close` is the CLOSE record's meta."""
    outcome, detail = judge(_seen(exchange, close))
    clock = exchange.clock
    return RequestRow(
        **_asked(exchange),
        outcome=outcome,
        detail=_bounded(detail, MAX_DETAIL_CHARS),
        send_us=None if outcome == "not_sent" else exchange.send_us,
        end_us=clock.us(close["end_ns"]) or 0,
        **_connection(close),
        first_byte_us=clock.first_us,
        headers_us=exchange.headers_us,
        first_token_us=exchange.first_token_us,
        first_visible_us=exchange.first_visible_us,
        last_token_us=exchange.last_token_us,
        http_status=exchange.http.status,
        **_told(exchange),
        **_counted(exchange),
        n_shared=exchange.n_shared,
        n_missing_stamps=clock.n_missing,
        bytes_received=clock.bytes_received,
        form=exchange.form,
        whole_us=exchange.whole_us,
        coding=_bounded(exchange.http.coding),
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
        "traffic_class": meta.get("traffic_class", "default"),
        "target": meta.get("target", "main"),
        **{name: meta.get(name) for name in ("conversation", "turn", "prefix_group", "prompt_no")},
    }


def _connection(close: dict[str, Any]) -> dict[str, Any]:
    """How the connection came about; the durations of its phases from ns to µs."""
    phases = {f"{name}_us": close.get(f"{name}_ns") for name in ("dns", "connect", "tls")}
    return {
        "conn_reused": close.get("conn_reused"),
        "reconnects": close.get("reconnects") or 0,
        **{name: None if ns is None else ns // 1000 for name, ns in phases.items()},
    }


def _told(exchange: Exchange) -> dict[str, Any]:
    """What the server said about itself and the answer."""
    http, answer = exchange.http, exchange.answer
    timings = answer.timings or ServerTimings()
    return {
        "response_id": _bounded(answer.response_id),
        "finish_reason": _bounded(answer.finish_reason),
        "server_request_id": server_request_id(http.headers, exchange.meta["x_request_id"]),
        "retry_after_s": retry_after_s(http.status, http.headers),
        **{f"server_{name}": us for name, us in timings._asdict().items()},
    }


def _bounded(text: str | None, n_chars: int = MAX_NAME_CHARS) -> str | None:
    """A server's text as a column holds it: no megabyte, and no half of a surrogate pair."""
    if text is None:
        return None
    text = text if len(text) <= n_chars else text[: n_chars - 1] + "…"
    return text.encode("utf-8", "replace").decode()


def _counted(exchange: Exchange) -> dict[str, Any]:
    """What the answer's events amount to; one in one piece has none, whatever its text."""
    answer = exchange.answer
    usage = answer.usage
    first_chunk_tokens = answer.first_chunk_tokens
    if first_chunk_tokens is None and 0 < answer.n_chunks == usage.output_tokens:
        first_chunk_tokens = 1  # as many events as tokens: each event is one
    is_whole = exchange.whole_us is not None
    return {
        **{name: count(n) for name, n in usage._asdict().items()},  # sums may pass the column
        "token_source": answer.token_source,
        "n_choices": answer.n_choices,
        "n_chunks": 0 if is_whole else answer.n_chunks,
        "first_chunk_tokens": None if is_whole else first_chunk_tokens,
        "other_events": {} if is_whole else answer.other_events,
    }


def _seen(exchange: Exchange, close: dict[str, Any]) -> Seen:
    http, answer = exchange.http, exchange.answer
    body = bytes(exchange.document)
    is_unread = body.strip() and not answer.n_events and exchange.whole_us is None
    return Seen(
        cause=close["cause"],
        detail=close.get("detail"),
        status=http.status,
        reason=http.reason,
        retry_after=http.headers.get("retry-after"),
        content_type=http.content_type,
        unread=sentence_of_body(body) if is_unread else None,
        problem=http.problem or exchange.problem,
        error=answer.error,
        error_code=answer.error_code,
        body_complete=http.complete or (http.ends_at_close and close["cause"] in ("done", "eof")),
        ended=answer.ended or exchange.whole_us is not None,
        finish_reason=answer.finish_reason,
        form=exchange.form,
        n_texts=answer.n_chunks,
        needs_text=exchange.is_streaming,
        body_bytes=len(body),
    )
