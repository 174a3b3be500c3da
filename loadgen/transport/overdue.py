"""Which answers must be ended by us: asked ten times a second, not at each read."""

import re

from loadgen.transport.answer import Answer
from loadgen.transport.call import Cause, Timeouts

QUIET_NS = 100_000_000
DONE_GRACE_NS = 1_000_000_000
MAX_ANSWER_BYTES = 512 * 1024 * 1024
"""A million tokens are 300 MB; a server that writes for ever would fill disk or memory."""

_LINE = rb"(?::[^\r\n]*|[0-9A-Fa-f]{1,16}(?:;[^\r\n]*)?)?"  # a comment, a chunk's size, nothing
KEEP_ALIVE = re.compile(rb"(?:" + _LINE + rb"[\r\n])*" + _LINE)
"""Lines that say no more than that the connection is alive."""
_LINE_END = re.compile(rb"[\r\n]")


def overdue(answer: Answer, limits: Timeouts, now_ns: int) -> tuple[Cause, str | None] | None:
    """How to end this answer now, or None.

    An answer whose last line was its API's done line gets a second to end by the rules of HTTP;
    some servers never do.  Comments, blank lines and the chunks around them do not break silence.
    """
    _listen(answer)
    if answer.n_bytes > MAX_ANSWER_BYTES:
        return "malformed", f"the answer is longer than {MAX_ANSWER_BYTES >> 20} MiB"
    if answer.done_line_ns is None:
        if now_ns - answer.last_ns >= QUIET_NS and _ends_with_done(answer):
            answer.done_line_ns = answer.last_ns
    elif now_ns - answer.done_line_ns >= DONE_GRACE_NS:
        return "done", None
    if now_ns - answer.heard_ns >= limits.silence_s * 1e9:
        is_mute = answer.last_ns == answer.heard_ns
        came = "no byte came" if is_mute else "only keep-alive comments came"
        return "timeout", f"{came} for {limits.silence_s:g} s (limits.silence_s)"
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


def _listen(answer: Answer) -> None:
    """Note whether what came since the last look was more than comments."""
    n_new = answer.n_bytes - answer.n_heard
    if n_new:
        answer.n_heard = answer.n_bytes
        if not _is_keep_alive(answer.tail, n_new):
            answer.heard_ns = answer.last_ns


def _is_keep_alive(tail: bytes, n_new: int) -> bool:
    """Whether the last `n_new` bytes are keep-alive for certain; more than the tail holds: no."""
    start = len(tail) - n_new
    if start < 0:
        return False
    begin = max(tail.rfind(b"\n", 0, start), tail.rfind(b"\r", 0, start)) + 1
    return KEEP_ALIVE.fullmatch(tail, begin) is not None


def _ends_with_done(answer: Answer) -> bool:
    """Whether nothing but keep-alive follows the line in which the done line was found."""
    tail, pattern = answer.tail, answer.done_line
    found = pattern.search(tail) if pattern is not None else None
    while pattern is not None and found is not None:
        line_end = _LINE_END.search(tail, found.end() - 1)
        if line_end is None:
            return False
        if KEEP_ALIVE.fullmatch(tail, line_end.start()):
            return True
        found = pattern.search(tail, max(line_end.start(), found.start() + 1))
    return False
