"""Freezes: at planned instants the whole engine stands still, as a server that swaps does.

Settings of `--set`, like the engine's own; a single request asks for one with `freeze_ms`.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Freezes:
    """When the engine stands still; seconds, counted from its first request."""

    freeze_s: float = 0.0  # how long each time; 0 = never
    freeze_at_s: float = 0.0  # when the first begins
    freeze_every_s: float = 0.0  # from one begin to the next; 0 = only once

    def __post_init__(self) -> None:
        for name in ("freeze_s", "freeze_at_s", "freeze_every_s"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} is {getattr(self, name):g}; it must be 0 or more")
        if 0 < self.freeze_every_s <= self.freeze_s:
            raise ValueError(
                f"freeze_every_s is {self.freeze_every_s:g}; it must be more than freeze_s "
                f"({self.freeze_s:g}), or the engine would never go on"
            )

    def begins_s(self) -> Iterator[float]:
        """The begin of each freeze; endless if they repeat."""
        if self.freeze_s:
            times = count() if self.freeze_every_s else range(1)
            yield from (self.freeze_at_s + k * self.freeze_every_s for k in times)


class Freezer:
    """Calls `freeze` with a duration in ns at each instant, once told of the first request."""

    def __init__(self, freezes: Freezes, freeze: Callable[[int], None]) -> None:
        self._duration_ns = round(freezes.freeze_s * 1e9)
        self._begins_s = freezes.begins_s()
        self._freeze = freeze
        self._loop = asyncio.get_running_loop()
        self._first_s: float | None = None  # on the loop's clock
        self._timer: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """A request has come; only the first one matters."""
        if self._first_s is None:
            self._first_s = self._loop.time()
            self._set_timer()

    def close(self) -> None:
        """Freeze no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _set_timer(self) -> None:
        begin_s = next(self._begins_s, None)
        if begin_s is not None and self._first_s is not None:
            self._timer = self._loop.call_at(self._first_s + begin_s, self._now)

    def _now(self) -> None:
        self._freeze(self._duration_ns)
        self._set_timer()
