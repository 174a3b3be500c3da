"""What went wrong in an answer, though something came.

Each rule takes an explanation and returns one sentence with what to do, or None.
"""

from loadgen.explain_facts import Explanation
from loadgen.explain_text import UNKNOWN, counted


def rate_limited(seen: Explanation) -> str | None:
    """429, or its like inside a 200."""
    if seen.row.outcome != "rate_limited":
        return None
    wait = seen.row.retry_after_s
    told = f"it asks to wait {wait:,.0f} s" if wait is not None else "it does not say how long"
    return f"The endpoint limits the rate ({told}): a load test needs a higher limit; ask for one."


def error_inside(seen: Explanation) -> str | None:
    """HTTP 200, and yet an error."""
    if seen.row.http_status != 200 or "error" not in seen.kinds:
        return None
    n = seen.row.n_chunks
    return (
        f"HTTP says 200, but the answer holds an error after {counted(n, 'token event')}: tools "
        "that go by the status count it as a success; see the server's log."
    )


def malformed(seen: Explanation) -> str | None:
    """Events that could not be read."""
    n = seen.kinds.get("malformed", 0)
    if not n:
        return None
    return (
        f"{counted(n, 'event')} could not be read as {seen.asked.api}: check the API and proxies."
    )


def unknown_events(seen: Explanation) -> str | None:
    """Events without meaning to this API."""
    n = sum(line.note == UNKNOWN for line in seen.events)
    if not n:
        return None
    return (
        f"{counted(n, 'event')} of a shape that {seen.asked.api} does not know (kind empty): none "
        "counts as a token; if they hold text, the API is another one."
    )
