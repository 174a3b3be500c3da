"""Which answers must be ended by us: asked ten times a second, not at each read."""

import re

from loadgen.transport.answer import TAIL_BYTES, Answer
from loadgen.transport.call import Cause, Timeouts

DONE_LINE = re.compile(rb"[\r\n]data: ?\[DONE\][\r\n]")
QUIET_NS = 100_000_000
DONE_GRACE_NS = 1_000_000_000


def overdue(answer: Answer, limits: Timeouts, now_ns: int) -> tuple[Cause, str | None] | None:
    """How to end this answer now, or None.

    An answer whose last line was `data: [DONE]` gets a second to end by the rules of HTTP; some
    servers never do.  Silence is about bytes: an SSE comment breaks it, only the total limit
    ends a server that comments for ever.
    """
    quiet_ns = now_ns - answer.last_ns
    if answer.done_line_ns is None:
        if quiet_ns >= QUIET_NS and _ends_with_done(answer.tail):
            answer.done_line_ns = answer.last_ns
    elif now_ns - answer.done_line_ns >= DONE_GRACE_NS:
        return "done", None
    if quiet_ns >= limits.silence_s * 1e9:
        return "timeout", f"no byte came for {limits.silence_s:g} s (limits.silence_s)"
    if now_ns - answer.send_ns >= limits.total_s * 1e9:
        return "timeout", f"not finished {limits.total_s:g} s after the send (limits.request_s)"
    return None


def is_closed_unseen(answer: Answer, now_ns: int) -> bool:
    """Whether TLS ended together with the last bytes and the socket says nothing more."""
    connection = answer.connection
    return (
        connection is not None
        and connection.is_closed_by_peer
        and now_ns - answer.last_ns >= QUIET_NS
    )


def _ends_with_done(tail: bytes) -> bool:
    return DONE_LINE.search(tail, max(0, len(tail) - TAIL_BYTES)) is not None
