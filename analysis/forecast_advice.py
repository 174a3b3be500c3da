"""What the requests of a plan will be enough for, level by level, before it runs."""

from collections.abc import Sequence

from analysis.sample_size import Spread, advice, assumption
from loadgen.forecast_levels import Level

MOST_LEVELS = 6


def level_advice(levels: Sequence[Level], classes: Sequence[str], spread: Spread) -> list[str]:
    """A sentence per level and class, then what they rest on; [] if no level is known beforehand.

    Of more than 6 levels only of those with the fewest and the most requests.
    """
    known = [(f"{level.name}{of}", n) for level in levels for of, n in _counts(level, classes)]
    if len(known) > MOST_LEVELS:
        by_count = sorted(known, key=lambda level: level[1])
        known = [by_count[0], by_count[-1]]
    said = [f"{name}: {advice(n, spread)}" for name, n in known]
    return [*said, assumption(spread)] if said else []


def _counts(level: Level, classes: Sequence[str]) -> list[tuple[str, float]]:
    """(` · class` where there are several, its requests) of what sends anything."""
    several = len(classes) > 1
    counts = zip(classes, level.requests, strict=True)
    return [(f" · {name}" if several else "", n) for name, n in counts if n > 0]
