"""Names of a run's load levels, each its own: a plan may measure the same load twice."""

import re
from collections.abc import Iterable


def unique_names(names: Iterable[str]) -> list[str]:
    """The names in order; one that was there before gets its count: `c=4`, `c=4 (2)`."""
    found: list[str] = []
    for name in names:
        unique, count = name, 1
        while unique in found:
            count += 1
            unique = f"{name} ({count})"
        found.append(unique)
    return found


def base_name(name: str) -> str:
    """The name without its count: levels that share it are one load measured again."""
    return re.sub(r" \(\d+\)$", "", name)
