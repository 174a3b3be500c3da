"""Limits of a whole run: what was used of them, and the sentence that ends it.

Requests are shared out before each level, so their limit is kept exactly.  Tokens and dollars are
counted by the decoders as answers end, about once a second: what is in flight then, and what began
in that second, comes on top.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from loadgen.plan import Plan
from loadgen.plan_target import Prices
from loadgen.run_ended import ENDED_BY, RunEnded
from loadgen.seats import Role, split
from storage.live import LiveTail

LOOK_EVERY_S = 0.25
DECODED_WITHIN_S = 30
LEAST_ANSWERS = 50
"""Before so many no share of failures says anything."""
NO_ANSWER = ("cancelled", "not_sent")
PER_MILLION = 1e-6


class Used:
    """What a run has used so far; knows no clock and no files."""

    def __init__(self, prices: dict[str, Prices | None]) -> None:
        self._prices = prices
        self._sent: dict[int, int] = {}
        self.tokens = 0
        self.dollars = 0.0
        self.answers = 0
        self.failed = 0

    @property
    def requests(self) -> int:
        """Requests sent, of all workers."""
        return sum(self._sent.values())

    def pulse(self, pulse: dict[str, Any]) -> None:
        """A worker's counts since the run began."""
        self._sent[pulse["worker"]] = pulse["sent"]

    def add(self, lines: Sequence[dict[str, Any]]) -> None:
        """Takes in what storage.live.LiveTail returned."""
        for line in lines:
            for target, (prompt, output) in line.get("used", {}).items():
                self.tokens += prompt + output
                if (prices := self._prices.get(target)) is not None:
                    dollars = prompt * prices.usd_per_m_input + output * prices.usd_per_m_output
                    self.dollars += dollars * PER_MILLION
            answers = {k: n for k, n in line["outcomes"].items() if k not in NO_ANSWER}
            self.answers += sum(answers.values())
            self.failed += sum(answers.values()) - answers.get("complete", 0)


class LimitsWatch:
    """Says when a run is to end, and how many requests each worker may still begin."""

    def __init__(self, plan: Plan, run_dir: Path) -> None:
        limits = self._limits = plan.limits
        self._tail = LiveTail(run_dir)
        self._began_s: float | None = None
        self._look_s = 0.0
        self._has_said = False
        self._known_us: dict[int, int] = {}  # worker -> until when its requests are counted
        self.used = Used({name: target.prices for name, target in plan.targets_used().items()})
        self._reads = any((limits.tokens, limits.dollars, limits.failed_share))

    def begin(self, roles: Sequence[Sequence[Role]]) -> list[int | None]:
        """A level begins, the run's seconds count from the first one on.

        How many requests each worker may begin in it; None without such a limit.
        """
        self._has_said = False
        if self._began_s is None:
            self._began_s = time.monotonic()
        if self._limits.requests is None:
            return [None] * len(roles)
        left = max(0, self._limits.requests - self.used.requests)
        users = [len(mine) for mine in roles]
        return list(split(left, users)) if sum(users) else [0] * len(roles)

    def is_enough(self) -> bool:
        """True once in a level, when nothing more may be asked.

        Raises RunEnded if too large a share of all answers failed.
        """
        now_s = time.monotonic()
        if self._has_said or now_s < self._look_s:
            return False
        self._look_s = now_s + LOOK_EVERY_S
        self._read()
        self._has_said = self._reached(now_s) is not None
        return self._has_said

    def check(self, until_us: int, workers: Iterable[int], pause: Callable[[float], None]) -> None:
        """A level has ended; raises RunEnded if a limit is reached.

        Then it first waits until all that these workers read until then is decoded and counted.
        """
        self._read()
        if self._reached(time.monotonic()) is None:
            return
        deadline_s, late = time.monotonic() + DECODED_WITHIN_S, set(workers)
        while self._reads and late and time.monotonic() < deadline_s:
            pause(0.1)
            self._read()
            late = {k for k in late if self._known_us.get(k, -1) < until_us}
        if (reached := self._reached(time.monotonic())) is not None:
            name, limit, used = reached
            raise RunEnded(
                "finished",
                f"{ENDED_BY}{name} ({limit}) after {used}; all that was measured is kept.",
            )

    def _read(self) -> None:
        if not self._reads:
            return
        for worker, lines in self._tail.read_by_worker().items():
            self.used.add(lines)
            if lines:
                self._known_us[worker] = lines[-1]["t_us"]
        self._check_failures()

    def _reached(self, now_s: float) -> tuple[str, str, str] | None:
        """(name, limit, what was used) of a limit that is reached."""
        limits, used = self._limits, self.used
        elapsed_s = now_s - self._began_s if self._began_s is not None else 0.0
        if limits.requests is not None and used.requests >= limits.requests:
            return "requests", f"{limits.requests:,}", f"{used.requests:,} requests"
        if limits.seconds is not None and elapsed_s >= limits.seconds:
            return "seconds", f"{limits.seconds:g}", f"{elapsed_s:.1f} s"
        if limits.tokens is not None and used.tokens >= limits.tokens:
            return "tokens", f"{limits.tokens:,}", f"{used.tokens:,} tokens"
        if limits.dollars is not None and used.dollars >= limits.dollars:
            return "dollars", f"{limits.dollars:g}", f"{used.dollars:.4g} dollars"
        return None

    def _check_failures(self) -> None:
        share, used = self._limits.failed_share, self.used
        if share is None or used.answers < LEAST_ANSWERS:
            return
        if used.failed > share * used.answers:
            raise RunEnded(
                "failed",
                f"{used.failed:,} of {used.answers:,} answers failed, more than the share of "
                f"{share:g} allowed (limits.failed_share); the run was ended early. What was "
                "measured until then is kept.",
            )
