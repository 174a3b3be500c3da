"""The cyclic garbage collector, kept out of the measured seconds.

A full collection stalls the event loop 50-150 ms, and every stream with it.  During a stage the
collector is off; in a long one, only the young generation is collected, in an idle turn.
"""

import gc
import time


class Collector:
    """Freeze before a stage, thaw after it; the longest pause since last asked is kept."""

    def __init__(self) -> None:
        self._began_ns = 0
        self._longest_ns = 0
        gc.callbacks.append(self._observe)

    def freeze(self) -> None:
        """Collect once, set what is left aside for good, and switch the collector off."""
        gc.collect()
        gc.freeze()
        gc.disable()
        self._longest_ns = 0  # that was before the level, and disturbed nothing

    def young(self) -> None:
        """Collect only what was made since the last pass: well below a millisecond."""
        gc.collect(0)

    def thaw(self) -> None:
        """Back to normal between stages."""
        gc.enable()
        gc.unfreeze()

    def longest_us(self) -> int | None:
        """The longest pause since the last call; None if there was none."""
        longest_ns, self._longest_ns = self._longest_ns, 0
        return longest_ns // 1000 if longest_ns else None

    def _observe(self, phase: str, info: dict[str, int]) -> None:
        del info
        if phase == "start":
            self._began_ns = time.monotonic_ns()
        else:
            self._longest_ns = max(self._longest_ns, time.monotonic_ns() - self._began_ns)
