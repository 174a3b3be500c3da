"""Do the first requests of a run all fail?  Then the rest need not be asked.  Pure."""

from collections import Counter

from loadgen.transport.call import Done

WINDOW_NS = 1_000_000_000


class FailingStart:
    """What one load worker sees: HTTP's status and connection trouble.

    The first requests are those SENT first.  A full server refuses the last comers at once while
    the first are still being answered; that is an overload to measure, not a failing endpoint.
    limit: so many of them decide.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._first: dict[int, str] = {}  # of the first `limit` sent, those that failed
        self._failures: Counter[str] = Counter()
        self._begin_ns: int | None = None  # when the first one ended
        self._is_open = True

    def succeeded(self) -> None:
        """One request was answered well: whatever fails from now on is another matter."""
        self._is_open = False

    def failed(self, nth: int, failure: str, now_ns: int) -> str | None:
        """The nth request sent (from 0) failed so; a sentence without a stop if all is lost.

        Either the first `limit` failed alike, or they failed, as did everything that ended within
        the first second.
        """
        if not self._is_open:
            return None
        self._failures[failure] += 1
        if nth < self._limit:
            self._first[nth] = failure
        if self._begin_ns is None:
            self._begin_ns = now_ns
        if len(self._first) < self._limit:
            return None
        if len(set(self._first.values())) == 1:
            return self._decide(f"The first {self._limit} requests failed alike: {failure}")
        if now_ns - self._begin_ns < WINDOW_NS:
            return None
        (most, n), total = self._failures.most_common(1)[0], self._failures.total()
        return self._decide(f"All of the first {total} requests failed, {n} of them so: {most}")

    def _decide(self, sentence: str) -> str:
        self._is_open = False
        return sentence.rstrip(".")


def failure_of(done: Done) -> str | None:
    """What went wrong in a few words, equal for equal failures; None for any answer of 2xx."""
    if done.cause != "done":
        return f"{done.cause}: {done.detail}" if done.detail else done.cause
    if done.http_status is not None and not 200 <= done.http_status < 300:
        return f"HTTP {done.http_status}"
    return None


class FailuresInARow:
    """Equal failures one after the other, at any time of a run.  limit: so many end it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last, self._n = "", 0

    def succeeded(self) -> None:
        """The row has ended."""
        self._last, self._n = "", 0

    def failed(self, failure: str) -> str | None:
        """One more; sentences once the limit is reached."""
        self._n = self._n + 1 if failure == self._last else 1
        self._last = failure
        if self._n != self._limit:
            return None
        return (
            f"{self._n} requests in a row failed alike ({failure.rstrip('.')}); the run was ended "
            "early (limits.failed_in_a_row)."
        )
