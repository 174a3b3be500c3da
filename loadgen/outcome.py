"""How a request ended: one outcome and one sentence out of what was seen.  First rule wins."""

from dataclasses import dataclass

from storage.records import Outcome

Verdict = tuple[Outcome, str | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bytes of one answer amounted to, and why the connection's side ended."""

    cause: str  # of the CLOSE record: done eof reset timeout cancelled connect_failed …
    detail: str | None  # the transport's sentence
    status: int | None  # None: no complete response head
    reason: str  # the status line's phrase
    retry_after: str | None
    content_type: str
    document: str | None  # what a body that is no event stream says
    document_is_error: bool
    problem: str | None  # the bytes broke HTTP, SSE or JSON
    stream_error: str | None  # the error event's sentence
    stream_error_code: int | str | None
    body_complete: bool
    ended: bool  # [DONE] or every finish_reason
    finish_reason: str | None
    n_chunks: int  # token events


def judge(seen: Seen) -> Verdict:
    """The outcome and its sentence; a complete answer has none."""
    for rule in (_not_begun, _refused, _stream_failed, _ended, _cut_short, _closed):
        verdict = rule(seen)
        if verdict:
            return verdict
    raise AssertionError("the last rule always answers")


def _not_begun(seen: Seen) -> Verdict | None:
    if seen.cause == "not_sent":
        return "not_sent", seen.detail
    if seen.cause in ("connect_failed", "tls_failed"):
        return "connect_failed", seen.detail
    return None


def _refused(seen: Seen) -> Verdict | None:
    if seen.status is None or 200 <= seen.status < 300:
        return None
    said = seen.document or f"HTTP {seen.status} {seen.reason}".strip()
    if seen.retry_after:
        said = f"{said} (Retry-After: {seen.retry_after})"
    return ("rate_limited" if seen.status == 429 else "http_error"), said


def _stream_failed(seen: Seen) -> Verdict | None:
    """An error object inside a 200, also as a whole JSON answer; or bytes without a meaning."""
    if seen.stream_error is not None:
        is_limit = str(seen.stream_error_code) in ("429", "rate_limit_exceeded")
        return ("rate_limited" if is_limit else "stream_error"), seen.stream_error
    if seen.document_is_error:
        return "stream_error", seen.document
    if seen.problem is not None:
        return "malformed", seen.problem
    return None


def _ended(seen: Seen) -> Verdict | None:
    """The server said it was whole: what cuts the connection afterwards does not matter."""
    if not seen.ended:
        return None
    if seen.n_chunks:
        return "complete", None
    why = f"finish_reason {seen.finish_reason}" if seen.finish_reason else "[DONE]"
    return "empty", f"The answer ended ({why}) without any text."


def _cut_short(seen: Seen) -> Verdict | None:
    """Not the server's own orderly end: our limit, our stop, or a broken connection."""
    so_far = f"after {seen.n_chunks} token events"
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
    if seen.n_chunks:
        return "truncated", (
            f"The stream ended after {seen.n_chunks} token events"
            " without finish_reason and without [DONE]."
        )
    if seen.document and (seen.body_complete or seen.content_type != "text/event-stream"):
        kind = seen.content_type or "no content type"
        return "malformed", f"The answer ({kind}) holds no event: {seen.document}"
    if not seen.body_complete:
        return "truncated", "The stream was cut off before its first token."
    return "empty", "The answer was HTTP 200 with no token in it."
