"""Measured lengths from a file: one number per line, or a column of a CSV or JSONL file."""

from array import array
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from loadgen.lengths import Lengths
from loadgen.plan_lengths import MOST_TOKENS
from loadgen.plan_parts import PlanError
from loadgen.table_rows import rows
from loadgen.text_lines import FileTrouble, first_sign, text_lines

MOST_NUMBERS = 10_000_000


def read_lengths(path: str, column: str | None = None) -> Lengths:
    """The numbers of the file in their order, ten million at most.

    Raises PlanError, which names the file, the line and what was expected there.
    """
    numbers = array("q")
    try:
        for where, value in islice(_values(Path(path), column), MOST_NUMBERS):
            numbers.append(_length(where, value))
    except FileTrouble as trouble:
        raise PlanError([str(trouble)]) from None
    if not numbers:
        raise PlanError([f"{path} holds no numbers; expected one length per line."])
    return np.frombuffer(numbers, np.int64).copy()


def _values(path: Path, column: str | None) -> Iterator[tuple[str, Any]]:
    """Each value with where it stands."""
    if column is None and first_sign(path) not in ("{", "["):
        yield from _plain_values(path)
        return
    for row in rows(path):
        if row.problem:
            raise FileTrouble(f"{row.where} {row.problem}.")
        if column not in row.values:
            names = ", ".join(row.values)
            wanted = "name one as its column" if column is None else f"expected {column!r}"
            raise FileTrouble(f"{row.where} has the columns {names}; {wanted}.")
        yield row.where, row.values[column]


def _plain_values(path: Path) -> Iterator[tuple[str, Any]]:
    """One number per line; the first line may be the column's name."""
    lines = (line for line in text_lines(path) if line.text.strip())
    first = next(lines, None)
    if first is None:
        return
    if "," in first.text:
        raise FileTrouble(f"{first.where} has the columns {first.text}; name one as its column.")
    is_name = first.text.strip()[:1].isalpha()
    for line in lines if is_name else chain([first], lines):
        yield line.where, line.text


def _length(where: str, value: Any) -> int:
    try:
        length = round(float(value))
    except (TypeError, ValueError, OverflowError):
        length = 0
    if not 1 <= length <= MOST_TOKENS:
        expected = f"a number from 1 to {MOST_TOKENS:,}"
        raise FileTrouble(f"{where}: {str(value)[:40]!r} is no length; expected {expected}.")
    return length
