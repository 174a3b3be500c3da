"""Lists of numbers as they are typed into one field: levels, steps, the points of a table."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, cast


def numbers_of(text: str) -> list[float | str]:
    """The numbers between commas, semicolons or blanks; what is none stays the word it is.

    The plan then says of it what it says of such a word in a file.
    """
    return [_number(word) for word in re.split(r"[,;\s]+", text) if word]


def text_of(numbers: Iterable[float]) -> str:
    """The same list, to be typed."""
    return ", ".join(short(n) for n in numbers)


def points_of(text: str) -> list[list[float | str]]:
    """A point per line: a second and a value."""
    return [numbers_of(line) for line in text.splitlines() if line.strip()]


def points_text(points: Iterable[Iterable[float]]) -> str:
    """The same lines, to be typed."""
    return "\n".join(text_of(point) for point in points)


def object_of(text: str) -> Any:
    """A JSON object; anything else stays text, which no plan takes."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return cast("dict[str, Any]", found) if isinstance(found, dict) else text


def short(number: float) -> str:
    """`16` and not `16.0`; every digit of what is no whole number."""
    return str(int(number)) if number == int(number) else repr(number)


def _number(word: str) -> float | str:
    try:
        value = float(word)
    except ValueError:
        return word
    if not math.isfinite(value):
        return word
    return int(value) if value == int(value) else value
