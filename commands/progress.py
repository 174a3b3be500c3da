"""How a run is going, in one line of text.  Pure: lines and status in, text out.

What is done and what failed is what the decoders say: a stream that ended well for the transport
may hold an error or nothing.
"""

import math
from collections import Counter, deque
from typing import Any

from analysis.level_names import unique_names
from analysis.search_so_far import so_far
from storage.buckets import bucket_us

RATE_WINDOW_US = 3_000_000
NO_FAILURE = ("complete", "cancelled", "not_sent")  # cancelled: ended by us; not_sent: told apart


class Progress:
    """Sums up live lines; TTFT counts from the beginning of the present stage.

    TTFT is from schedule where the stage has one, else from send.
    """

    def __init__(self) -> None:
        self._stage: int | None = None
        self._ttft: Counter[int] = Counter()
        self._ttft_sched: Counter[int] = Counter()
        self._tokens: deque[tuple[int, int]] = deque()
        self._outcomes: Counter[str] = Counter()
        self._names: dict[int, str] = {}  # of the stages seen so far

    def add(self, lines: list[dict[str, Any]]) -> None:
        """Takes in what LiveTail.read() returned."""
        for line in lines:
            stage = line["pulse"]["stage"] if line["pulse"] else self._stage
            if stage != self._stage:
                self._stage = stage
                self._ttft.clear()
                self._ttft_sched.clear()
            self._ttft.update(_counts(line["ttft"]))
            self._ttft_sched.update(_counts(line.get("ttft_sched") or {}))
            self._tokens.append((line["t_us"], line["tokens"]))
            self._outcomes.update(line["outcomes"])
        newest = max((t_us for t_us, _ in self._tokens), default=0)
        while self._tokens and self._tokens[0][0] <= newest - RATE_WINDOW_US:
            self._tokens.popleft()

    def tokens_per_s(self) -> float | None:
        """Tokens of the last three seconds, per second; None before the first live line."""
        if not self._tokens:
            return None
        return sum(n for _, n in self._tokens) * 1e6 / RATE_WINDOW_US

    def ttft_p95_ms(self) -> float | None:
        """95th percentile of the stage so far, within 1 %; None without a first token."""
        counts = self._ttft_sched or self._ttft
        rank = math.ceil(0.95 * counts.total())
        for bucket in sorted(counts):
            rank -= counts[bucket]
            if rank <= 0:
                return float(bucket_us(bucket)) / 1000
        return None

    def line(self, status: dict[str, Any]) -> str:
        """The progress line; status as in status.json."""
        if status["state"] in ("queued", "starting") or not status["stage_name"]:
            return status["message"] or status["state"]
        parts = [self._level(status), f"{status['in_flight']} in flight", *self._ended()]
        if (rate := self.tokens_per_s()) is not None:
            parts.append(f"{rate:,.0f} tok/s")
        if (ttft := self.ttft_p95_ms()) is not None:
            shown = f"{ttft:.1f}" if ttft < 10 else f"{ttft:,.0f}"
            parts.append(f"TTFT p95 {shown} ms{' from schedule' if self._ttft_sched else ''}")
        prefix = "" if status["state"] == "running" else f"{status['state']}: "
        return prefix + " · ".join(parts)

    def _level(self, status: dict[str, Any]) -> str:
        level = f"stage {status['stage'] + 1}{_of(status['n_stages'])} {self._name(status)}"
        found = so_far(status.get("search") or [])
        return f"{level} ({found})" if found else level

    def _ended(self) -> list[str]:
        failed = sum(n for outcome, n in self._outcomes.items() if outcome not in NO_FAILURE)
        told = [f"{self._outcomes['complete']} complete", f"{failed} failed"]
        if not_sent := self._outcomes["not_sent"]:
            told.append(f"{not_sent} not sent")
        return told

    def _name(self, status: dict[str, Any]) -> str:
        """The stage's name, counted where an earlier stage had the same."""
        self._names[status["stage"]] = status["stage_name"]
        return unique_names(self._names[k] for k in sorted(self._names))[-1]


def _counts(histogram: dict[str, int]) -> dict[int, int]:
    return {int(bucket): n for bucket, n in histogram.items()}


def _of(n_stages: int | None) -> str:
    """How many there will be; "" while that depends on what they show."""
    return "" if n_stages is None else f"/{n_stages}"
