"""Fields beside the requests that hold something else than they should: told, and not taken.

A request's own times are refused where they are odd (source.column); a load or a name that cannot
be read costs nothing but itself, so the run is taken in without it and says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storage.exchange.source import Json, finite, shown, whole


@dataclass(frozen=True, slots=True)
class Expected:
    """What a field should hold, in words and as a test of its value."""

    words: str
    holds: Callable[[Any], bool]


def span(value: Any) -> float | None:
    """Seconds where the value is a number above 0, else None."""
    told = finite(value)
    return told if told is not None and told > 0 else None


def odd_fields(found: Json, expected: Mapping[str, Expected], within: str = "") -> list[str]:
    """A sentence for each field that is there and is not what is expected; null is "not told".

    within: what stands before the fields' names.
    """
    return [
        f"{within}{name} is {shown(value)}; expected {wanted.words}: it is taken as not told."
        for name, wanted in expected.items()
        if (value := found.get(name)) is not None and not wanted.holds(value)
    ]


def _is_rate(value: Any) -> bool:
    return value in ("inf", float("inf")) or span(value) is not None


def _is_date(value: Any) -> bool:
    try:
        datetime.strptime(value, "%Y%m%d-%H%M%S")  # noqa: DTZ007  local time, and not kept
    except (ValueError, TypeError):
        return False
    return True


COUNT = Expected("a whole number above 0", lambda value: whole(value) is not None)
NUMBER = Expected("a number from 0 on", lambda value: value == 0 or span(value) is not None)
SPAN = Expected("a number of seconds above 0", lambda value: span(value) is not None)
RATE = Expected('a number above 0 or "inf"', _is_rate)
TEXT = Expected("text", lambda value: isinstance(value, str))
OBJECT = Expected("an object", lambda value: isinstance(value, dict))
DATE = Expected("a date like 20260131-235959", _is_date)
