"""What the decoders say of a run's first answers: errors inside a 200, streams without a token.

The load workers see statuses and connections only.  The live lines (loadgen.live_line) tell the
rest within a second or two, and the server's own words.
"""

from collections import Counter
from typing import Any

from loadgen.advice import advice

NO_FAULT = ("complete", "cancelled", "not_sent")
SEEN_BY_DECODER = ("stream_error", "empty", "malformed", "truncated")


class StartWatch:
    """Takes live lines until the first complete answer.

    limit: so many failures, and nothing else, are enough (limits.failed_at_start).
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failed: Counter[str] = Counter()
        self._first_tokens = 0
        self._details: dict[str, str] = {}  # the last words of each outcome
        self._last = ""
        self.is_open = True

    def add(self, lines: list[dict[str, Any]]) -> None:
        """Takes in what storage.live.LiveTail returned."""
        for line in lines:
            outcomes: dict[str, int] = line["outcomes"]
            self._failed.update({k: n for k, n in outcomes.items() if k not in NO_FAULT})
            self._first_tokens += sum(line["ttft"].values())
            if error := line["last_error"]:
                self._last = error["outcome"]
                self._details[self._last] = error["detail"] or ""
            if outcomes.get("complete"):
                self.is_open = False

    def hopeless(self) -> str | None:
        """A sentence without a stop if so far only answers came that the workers take for good.

        More first tokens than failures: some stream is alive, and may end well.
        """
        n_hidden = sum(self._failed[name] for name in SEEN_BY_DECODER)
        if self._first_tokens > self._failed.total() or n_hidden < self._limit:
            return None
        return self.all_failed()

    def all_failed(self) -> str | None:
        """The same when nothing more will come, whatever the failures were."""
        total = self._failed.total()
        if not self.is_open or total < self._limit:
            return None
        (most, n) = self._failed.most_common(1)[0]
        return f"All of the first {total} requests failed, {n} of them as {most}"

    def explained(self, why: str, http_status: int | None, api_key_env: str | None) -> str:
        """`why` with the endpoint's own words, once they are decoded, and what to do.

        The words are those of the outcome that most of the failures had, which `why` names.
        """
        most = self._failed.most_common(1)
        outcome = most[0][0] if most else self._last
        detail = self._details.get(outcome, "").rstrip(".")
        words = f" ({detail})" if detail and detail not in why else ""
        todo = advice(outcome, http_status, api_key_env)
        return f"{why}{words}. {todo}".strip()
