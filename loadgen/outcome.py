"""How a request ended: one outcome and one sentence out of what was seen.  First rule wins."""

from dataclasses import dataclass

from storage.records import Outcome

Verdict = tuple[Outcome, str | None]


_LIMIT_CODES = frozenset({"429", "rate_limit_exceeded", "rate_limit_error", "resource_exhausted"})
"""Codes of an error inside a 200 that mean HTTP's 429: OpenAI's, Anthropic's and Google's words."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bytes of one answer amounted to, and why the connection's side ended."""

    cause: str  # of the CLOSE record: done eof reset timeout cancelled connect_failed …
    detail: str | None  # the transport's sentence
    status: int | None  # None: no complete response head
    reason: str  # the status line's phrase
    retry_after: str | None
    content_type: str
    unread: str | None  # what a body says that is neither events nor a JSON document
    problem: str | None  # the bytes broke HTTP, compression, SSE or JSON
    error: str | None  # the sentence of an error inside the answer
    error_code: int | str | None
    body_complete: bool
    ended: bool  # [DONE], every finish_reason, or a whole document
    finish_reason: str | None
    form: str | None  # stream, whole; None: neither came
    n_texts: int  # token events, or texts of a whole answer
    needs_text: bool  # False: embeddings
    body_bytes: int  # of what is no event


def judge(seen: Seen) -> Verdict:
    """The outcome and its sentence; a complete answer has none."""
    for rule in (_not_begun, _refused, _answer_failed, _ended, _cut_short, _closed):
        verdict = rule(seen)
        if verdict:
            return verdict
    raise AssertionError("the last rule always answers")


def _not_begun(seen: Seen) -> Verdict | None:
    if seen.cause == "not_sent":
        return "not_sent", seen.detail or "The request was not sent."
    if seen.cause in ("connect_failed", "tls_failed"):
        return "connect_failed", seen.detail or "No connection could be opened."
    return None


def _refused(seen: Seen) -> Verdict | None:
    if seen.status is None or 200 <= seen.status < 300:
        return None
    said = seen.unread or f"HTTP {seen.status} {seen.reason}".strip()
    if seen.retry_after:
        said = f"{said} (Retry-After: {seen.retry_after})"
    return ("rate_limited" if seen.status == 429 else "http_error"), said


def _answer_failed(seen: Seen) -> Verdict | None:
    """An error object inside a 200, an event of a stream or all of it; or bytes without meaning."""
    if seen.error is not None:
        is_limit = str(seen.error_code).lower() in _LIMIT_CODES
        return ("rate_limited" if is_limit else "stream_error"), seen.error
    if seen.problem is not None:
        by_transport = seen.detail if seen.cause == "malformed" else None  # it knows TLS and HTTP/2
        return "malformed", by_transport or seen.problem
    return None


def _ended(seen: Seen) -> Verdict | None:
    """The answer is whole: what cuts the connection afterwards does not matter."""
    if not seen.ended:
        return None
    if seen.n_texts or not seen.needs_text:
        return "complete", None
    if seen.form == "whole":
        why = f"finish_reason {seen.finish_reason}" if seen.finish_reason else "one JSON document"
        return "empty", f"The answer ({why}) holds no text."
    why = f"finish_reason {seen.finish_reason}" if seen.finish_reason else "[DONE]"
    return "empty", f"The answer ended ({why}) without any text."


def _cut_short(seen: Seen) -> Verdict | None:
    """Not the server's own orderly end: our limit, our stop, or a broken connection."""
    so_far = f"after {seen.n_texts} token events"
    if seen.form == "whole":
        so_far = f"after {seen.body_bytes:,} bytes of it"
    match seen.cause:
        case "timeout":
            return "timeout", seen.detail or f"No end of the answer within the limit, {so_far}."
        case "cancelled":
            return "cancelled", seen.detail or f"The request was cancelled {so_far}."
        case "reset":
            return "reset", seen.detail or f"The connection was reset {so_far}."
        case "malformed":
            return "malformed", seen.detail or "The answer is no valid HTTP/1.1."
        case _:
            return None


def _closed(seen: Seen) -> Verdict:
    """The stream is over and nobody said that the answer was whole."""
    if seen.status is None:
        return "reset", seen.detail or "The server closed the connection without an answer."
    if seen.n_texts:
        return "truncated", (
            f"The stream ended after {seen.n_texts} token events"
            " without finish_reason and without [DONE]."
        )
    kind = seen.content_type or "no content type"
    if seen.form == "whole" and not seen.body_complete:
        return "truncated", f"The answer ({kind}) was cut off after {seen.body_bytes:,} bytes."
    if seen.unread and (seen.body_complete or seen.content_type != "text/event-stream"):
        what = "is no JSON document" if seen.form == "whole" else "holds no event"
        return "malformed", f"The answer ({kind}) {what}: {seen.unread}"
    if not seen.body_complete:
        return "truncated", "The stream was cut off before its first token."
    return "empty", f"The answer was HTTP {seen.status} with no token in it."
