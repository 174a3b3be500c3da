"""Columns of cells to arrays: counts, seconds, dates, keys; a bad cell names its line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgen.traces.chunk import Chunk
from loadgen.traces.trace import NONE

MOST_TOKENS = 1_000_000  # as in a plan
_MOST_S = 1e11  # the year 5138: such seconds since 1970 are milliseconds

# 7 decimals (100 ns) are Azure's; strptime's %f knows 6.  Years beyond 2261 overflow int64 ns.
_PLAIN_DATE = re.compile(
    r"(?:19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
)
_DATE = re.compile(rf"\s*({_PLAIN_DATE.pattern})\s*(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?\s*")
_A_DATE = "a date and time such as 2023-11-16 18:17:03.9799600"


@dataclass(frozen=True, slots=True)
class Unit:
    """What a file's times count, and how many make a second."""

    name: str
    per_s: float


SECONDS = Unit("seconds", 1)
MILLISECONDS = Unit("milliseconds", 1000)


def counts(chunk: Chunk, column: str) -> NDArray[np.int64]:
    """Whole numbers from 0 to `MOST_TOKENS`; `12.0` counts as 12."""
    expected = f"a whole number from 0 to {MOST_TOKENS:,}"
    values = _numbers(chunk, column, expected)
    good = (values >= 0) & (values <= MOST_TOKENS) & (values == np.floor(values))
    _check(chunk, column, good, expected)
    return values.astype(np.int64)


def times(chunk: Chunk, column: str, unit: Unit) -> NDArray[np.float64]:
    """Times from 0 on, in the file's unit."""
    most = _MOST_S * unit.per_s
    expected = f"{unit.name} from 0 to {most:.0e}"
    values = _numbers(chunk, column, expected)
    _check(chunk, column, (values >= 0) & (values <= most), expected)
    return values


def dates_ns(chunk: Chunk, column: str) -> NDArray[np.int64]:
    """Dates with time of day as ns since 1970; without a zone they count as UTC."""
    dates, zones_ns = chunk.columns[column], np.zeros(1, np.int64)
    if not all(isinstance(cell, str) and _PLAIN_DATE.fullmatch(cell) for cell in dates):
        found = [_DATE.fullmatch(cell) if isinstance(cell, str) else None for cell in dates]
        _check(chunk, column, np.array([match is not None for match in found]), _A_DATE)
        dates = [match[1] for match in found if match]
        zones_ns = np.array([_zone_ns(match[2]) for match in found if match], np.int64)
    try:
        return np.array(dates, "datetime64[ns]").view(np.int64) - zones_ns
    except ValueError:  # a 13th month, a 25th hour
        row = next(row for row, date in enumerate(dates) if not _is_possible(date))
        raise chunk.error(row, column, _A_DATE) from None


def is_date(cell: object) -> bool:
    """Whether a cell begins as a date does."""
    return isinstance(cell, str) and _DATE.fullmatch(cell) is not None


def texts(chunk: Chunk, column: str) -> list[str]:
    """Prompts; "" where a row has none."""
    cells = ["" if cell is None else cell for cell in chunk.columns[column]]
    if not chunk.is_text:
        _check(chunk, column, np.array([isinstance(cell, str) for cell in cells]), "a string")
    return cells


class Numbering:
    """Keys of any kind to 0, 1, 2, … in the order of first appearance; no key is `NONE`."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, chunk: Chunk, column: str) -> NDArray[np.int64]:
        """The column's keys as numbers; raises TraceError for a list or an object."""
        cells, numbers = chunk.columns[column], self._numbers
        try:
            return np.array(
                [
                    NONE if cell is None or cell == "" else numbers.setdefault(cell, len(numbers))
                    for cell in cells
                ],
                np.int64,
            )
        except TypeError:  # unhashable
            good = np.array([not isinstance(cell, list | dict) for cell in cells])
            _check(chunk, column, good, "a string or a number")
            raise


def _numbers(chunk: Chunk, column: str, expected: str) -> NDArray[np.float64]:
    cells = chunk.columns[column]
    try:
        if chunk.is_text:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        if not set(map(type, cells)) - {int, float}:  # type(), because True is an int
            return np.array(cells, np.float64)
    except ValueError:
        pass
    raise chunk.error(_first_not_a_number(cells, chunk.is_text), column, expected)


def _first_not_a_number(cells: Sequence[Any], is_text: bool) -> int:
    for row, cell in enumerate(cells):
        try:
            if not is_text and type(cell) not in (int, float):
                return row
            float(cell)
        except ValueError:
            return row
    raise AssertionError("every cell is a number")


def _check(chunk: Chunk, column: str, good: NDArray[np.bool_], expected: str) -> None:
    if not good.all():
        raise chunk.error(int(np.argmin(good)), column, expected)


def _is_possible(date: str) -> bool:
    try:
        np.datetime64(date, "ns")
    except ValueError:
        return False
    return True


def _zone_ns(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (-1 if zone[0] == "-" else 1) * minutes * 60_000_000_000
