"""The rows of a JSON, JSONL or CSV file, one after the other; a bad one says what is wrong."""

import codecs
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from loadgen.text_lines import MOST_LINE_BYTES, FileTrouble, first_sign, opened, text_lines

READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `problem` is the end of a sentence that begins with `where`."""

    where: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    problem: str | None = None


def rows(path: Path) -> Iterator[Row]:
    """A file that begins with [ is a list, with { a JSON object per line, any other CSV.

    Raises FileTrouble where the rest cannot be read either.
    """
    sign = first_sign(path)
    if sign == "[":
        return list_rows(path)
    return line_rows(path) if sign == "{" else csv_rows(path)


def line_rows(path: Path) -> Iterator[Row]:
    """JSONL; void lines are no rows."""
    for line in text_lines(path):
        if not line.text.strip():
            continue
        try:
            yield _row(line.where, orjson.loads(line.text))
        except orjson.JSONDecodeError as error:
            yield Row(line.where, problem=f"is no JSON ({error})")


def csv_rows(path: Path) -> Iterator[Row]:
    """CSV with the columns' names in its first row; a quoted cell may hold line ends."""
    csv.field_size_limit(MOST_LINE_BYTES)
    # strict: else a quote that is not closed swallows all rows behind it.
    reader = csv.reader((line.text + "\n" for line in text_lines(path)), strict=True)
    names: list[str] = []
    begin = 1
    try:
        for cells in reader:
            where, begin = f"{path}, line {reader.line_num}", reader.line_num + 1
            if not any(cells):
                continue
            if not names:
                names = [name.strip() for name in cells]
            elif len(cells) != len(names):
                problem = f"has {len(cells)} cells; expected {len(names)} as in the first line"
                yield Row(where, problem=problem)
            else:
                yield Row(where, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise FileTrouble(
            f"{path}, line {reader.line_num} is no CSV: {error}; the row that begins in line "
            f"{begin} may have a quote that is not closed, or not doubled."
        ) from None


def list_rows(path: Path) -> Iterator[Row]:
    """One JSON list of objects, read piece by piece: it may be larger than the memory."""
    for number, item in enumerate(_items(path), 1):
        yield _row(f"{path}, item {number}", item)


_GAP = re.compile(r"[\s,]*")
_decode = json.JSONDecoder().raw_decode


def _items(path: Path) -> Iterator[Any]:
    text, is_begun = "", False
    for piece in _pieces(path):
        text += piece
        if not is_begun:
            text, is_begun = text.lstrip().removeprefix("["), bool(text.strip())
        at = _start(text, 0)
        while at < len(text) and text[at] != "]":
            try:
                item, end = _decode(text, at)
            except ValueError as error:
                if len(text) - at > MOST_LINE_BYTES:
                    raise FileTrouble(f"{path} is no JSON list: {error}.") from None
                break  # its end may be in the next piece
            yield item
            at = _start(text, end)
        text = text[at:]
        if text[:1] == "]":
            return
    raise FileTrouble(f"{path} is no JSON list, or is cut off: its last item or its ] is missing.")


def _start(text: str, at: int) -> int:
    """Where the next item begins, or the list's end."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def _pieces(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with opened(path) as file:
        try:
            while read := file.read(READ_BYTES):
                yield decoder.decode(read)
        except UnicodeDecodeError as error:
            raise FileTrouble(f"{path} is not UTF-8: {error.reason}.") from None


def _row(where: str, value: Any) -> Row:
    if isinstance(value, dict):
        return Row(where, cast("dict[str, Any]", value))
    return Row(where, problem=f"holds a {type(value).__name__}; expected an object")
