"""The sweep by doubling: more load until it brings no more throughput."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ladder:
    """start, twice as much, … up to most, while each step gains at least `least_gain`."""

    start: float
    most: float
    least_gain: float = 0.05


@dataclass(frozen=True, slots=True)
class Top:
    """The end of a sweep, and why."""

    why: str


def next_level(found: Sequence[tuple[float, float | None]], ladder: Ladder) -> float | Top:
    """The next load, or why there is none.

    found: (load, throughput) in the order measured; throughput in any unit, None: none was seen.
    """
    if not found:
        return min(ladder.start, ladder.most)
    load, throughput = found[-1]
    if not throughput:
        return Top(f"Nothing was completed at {load:g}.")
    before = found[-2][1] if len(found) > 1 else None
    if before:
        gain = throughput / before - 1
        if gain < ladder.least_gain:
            return Top(
                f"Throughput {_changed(gain)} from {found[-2][0]:g} to {load:g}, less than the "
                f"{100 * ladder.least_gain:g} % that a step must gain: saturated."
            )
    if load >= ladder.most:
        return Top(f"Throughput still grew at {load:g}, the most that was asked for.")
    return min(2 * load, ladder.most)


def _changed(gain: float) -> str:
    return f"{'grew' if gain >= 0 else 'fell'} by {abs(100 * gain):.1f} %"
