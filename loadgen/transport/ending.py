"""How an answer ended, by what was read last: pure, with the clock as a number."""

import httptools

from loadgen.transport import trouble
from loadgen.transport.answer import Answer
from loadgen.transport.call import Cause
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.http2 import NotHttp2

STALE_NS = 1_000_000_000
_NOT_HTTP = (httptools.HttpParserError, httptools.HttpParserUpgrade, NotHttp2)


def ending(
    answer: Answer, error: Exception | None, endpoint: Endpoint, now_ns: int
) -> tuple[Cause, str | None] | None:
    """Cause and sentence; None: the connection was stale, so the request may be repeated.

    error None: the message is complete, or the connection has ended.
    """
    has_begun = answer.tail != b""
    if answer.is_complete:
        return "done", _proxys_answer(answer, endpoint)
    if isinstance(error, _NOT_HTTP):
        return "malformed", trouble.not_http(endpoint, error, answer.tail)
    if error is None and answer.is_whole_at_eof:
        return "done", None
    if _is_stale(answer, now_ns):
        return None
    if error is None:
        return "eof", trouble.closed_early(endpoint, has_begun)
    return "reset", trouble.reset(endpoint, error, has_begun)


def _is_stale(answer: Answer, now_ns: int) -> bool:
    """Whether the connection had been closed before our request came, so that we may repeat it.

    A server that closes after seconds of work has failed; repeating would hide that.
    """
    age_ns = now_ns - answer.send_ns
    return answer.is_reused is True and answer.tail == b"" and age_ns < STALE_NS


def _proxys_answer(answer: Answer, endpoint: Endpoint) -> str | None:
    """A sentence for the one status that only a proxy gives."""
    if endpoint.proxy is None or answer.http_status != 407:
        return None
    return trouble.proxy_answered(endpoint, 407, "Proxy Authentication Required")
