"""How a foreign request ended, from the text a tool left of it."""

import re

OUTCOME_OF_TEXT: tuple[tuple[str, str], ...] = (
    (r"\b429\b|too many requests|rate.?limit", "rate_limited"),
    (r"cancel", "cancelled"),
    (r"time.?out|timed out", "timeout"),
    (r"connection refused|cannot connect|connect(ion)? ?error|getaddrinfo|name or service"
     r"|connectcall|no route to host", "connect_failed"),
    (r"reset by peer|disconnected|broken pipe|payload|incomplete read|connection closed"
     r"|peer closed", "reset"),
    (r"jsondecode|expecting value|invalid json|decode", "malformed"),
)  # fmt: skip
"""Patterns of an error's text; the first that fits wins."""
RATE_LIMITED, CANCELLED = 429, 499
MAX_DETAIL_CHARS = 1000


def outcome_of(said: str, status: int | None = None) -> str:
    """The outcome that fits a failure's text and status best; `http_error` where neither tells."""
    if status == RATE_LIMITED:
        return "rate_limited"
    if status == CANCELLED:
        return "cancelled"
    # A traceback's last line says what happened; those before it say where.
    last = said.strip().rpartition("\n")[2]
    for pattern, outcome in OUTCOME_OF_TEXT:
        if re.search(pattern, last, re.IGNORECASE):
            return outcome
    return "http_error"


def detail_of(said: str) -> str | None:
    """A failure's text as a column holds it: bounded, its end kept, no half of a surrogate pair."""
    said = said.strip()
    if not said:
        return None
    if len(said) > MAX_DETAIL_CHARS:
        said = "…" + said[-MAX_DETAIL_CHARS + 1 :]
    return said.encode("utf-8", "replace").decode()
