"""A foreign file as JSON values, and what of it is a number; errors name the file and the field."""

import codecs
import hashlib
import json
import math
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson

from storage.exchange.answers import Floats, Ints

Json = dict[str, Any]
NUMBERS = {int, float}
MOST_TOKENS = 2**31 - 1  # what the tables hold
MOST_S = 1e7
MOST_BYTES = 2 << 30
_HEAD_BYTES = 1 << 16


class ImportProblem(ValueError):
    """One sentence for the user: which file, which field, what was seen and what was expected."""


class NoResultFile(ImportProblem):
    """The file is nobody's result."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and the JSON values in it: one, or one a line."""

    path: Path
    values: list[Any]
    sha256: str = ""  # of the file
    hashes: tuple[str, ...] = ()  # of each value's own bytes

    @property
    def document(self) -> Any:
        """The file's only value; None if it has several."""
        return self.values[0] if len(self.values) == 1 else None

    @property
    def objects(self) -> list[Json]:
        """The values if all of them are objects, else none."""
        whole = all(isinstance(value, dict) for value in self.values)
        return cast(list[Json], self.values) if whole else []

    def problem(self, sentence: str) -> ImportProblem:
        """An error that names the file first."""
        return ImportProblem(f"{self.path.name}: {sentence}")


def load(path: Path) -> Source:
    """Read a file of JSON or JSON lines; bare NaN and Infinity are numbers, as Python writes them.

    Raises ImportProblem if it is neither.
    """
    refuse_odd(path)
    _refuse_large(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ImportProblem(f"{path} cannot be read: {error.strerror or error}.") from None
    sha256, raw = hashlib.sha256(raw).hexdigest(), raw.removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise NoResultFile(f"{path.name} is empty.")
    if not _is_text(raw):
        raise NoResultFile(f"{path.name} is no text; expected JSON in UTF-8.")
    try:
        return _source(path, [_value(raw)], [raw], sha256)
    except ValueError as error:
        whole = error
    lines = [line for line in raw.split(b"\n") if line.strip()]
    try:
        if len(lines) > 1:
            _value(lines[0])
    except ValueError:
        lines = []
    if len(lines) < 2:
        raise NoResultFile(f"{path.name} is no JSON: {_why(whole)}.")
    values = [_line(path, number, line) for number, line in enumerate(lines, 1)]
    return _source(path, values, lines, sha256)


def refuse_odd(path: Path) -> None:
    """ImportProblem unless it is a regular file of a size that can be read at once."""
    try:
        told = path.stat()
    except OSError as error:
        raise ImportProblem(f"{path} cannot be read: {error.strerror or error}.") from None
    if not stat.S_ISREG(told.st_mode):
        raise ImportProblem(
            f"{path} is {_KINDS.get(stat.S_IFMT(told.st_mode), 'something else')}; only regular "
            "files are read: write it into one first."
        )


def _refuse_large(path: Path) -> None:
    n_bytes = path.stat().st_size
    if n_bytes > MOST_BYTES:
        raise ImportProblem(
            f"{path.name} has {n_bytes / 2**30:,.1f} GiB; files of up to {MOST_BYTES >> 30} GiB "
            "are read: split it, or save it without the texts of prompts and answers."
        )


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def _is_text(raw: bytes) -> bool:
    head = raw[:_HEAD_BYTES]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # its end may cut a character
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def _source(path: Path, values: list[Any], raws: list[bytes], sha256: str) -> Source:
    hashes = tuple(hashlib.sha256(raw.strip()).hexdigest() for raw in raws)
    return Source(path, values, sha256, hashes)


def _line(path: Path, number: int, line: bytes) -> Any:
    try:
        return _value(line)
    except ValueError as error:
        raise ImportProblem(f"{path.name}, line {number} is no JSON: {_why(error)}.") from None


def _value(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except ValueError:
        # A few tools write NaN and Infinity, which only Python's own reader takes.
        if not re.search(rb"NaN|Infinity", raw):
            raise
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _why(error: ValueError) -> str:
    return str(error).splitlines()[0].rstrip(".")


def field_of(source: Source, value: Json, name: str, *kinds: type) -> Any:
    """A field that must be there and be of one of the types."""
    found = value.get(name)
    if not isinstance(found, kinds) or isinstance(found, bool):
        wanted = " or ".join(_WORDS.get(kind, kind.__name__) for kind in kinds)
        raise source.problem(f"{name} is {shown(found)}; expected {wanted}.")
    return found


_WORDS = {list: "a list", dict: "an object", float: "a number", int: "a whole number", str: "text"}


def column(source: Source, name: str, values: Sequence[Any], most: float = MOST_S) -> Floats:
    """A list of numbers, null and NaN as "not told"; each from 0 to `most`."""
    if not set(map(type, values)) <= NUMBERS:
        values = [_number(source, f"{name}[{i}]", value) for i, value in enumerate(values)]
    found = np.array(values, dtype=np.float64)
    bad = np.flatnonzero((found < 0) | (found > most))
    if len(bad):
        at = int(bad[0])
        raise source.problem(f"{name}[{at}] is {values[at]}; expected 0 to {most:.12g}.")
    return found


def nested(source: Source, name: str, lists: Sequence[Any]) -> tuple[Floats, Ints]:
    """Lists of spans in one column, and the length of each list; every span a finite number."""
    for i, inner in enumerate(lists):
        if not isinstance(inner, list):
            raise source.problem(f"{name}[{i}] is {shown(inner)}; expected a list of numbers.")
    lengths = np.array([len(inner) for inner in lists], dtype=np.int64)
    flat = list(chain.from_iterable(cast(Iterable[list[Any]], lists)))
    found = np.empty(0)
    if set(map(type, flat)) <= NUMBERS:
        found = np.array(flat, dtype=np.float64)
    if len(found) != len(flat) or not (np.abs(found) <= MOST_S).all():
        raise source.problem(_first_odd(name, lists))
    return found, lengths


def _first_odd(name: str, lists: Sequence[list[Any]]) -> str:
    for i, inner in enumerate(lists):
        for k, value in enumerate(inner):
            if type(value) not in NUMBERS or not abs(value) <= MOST_S:
                return f"{name}[{i}][{k}] is {shown(value)}; expected a number of seconds."
    raise AssertionError(name)


def _number(source: Source, where: str, value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in NUMBERS:
        raise source.problem(f"{where} is {shown(value)}; expected a number.")
    return float(value)


def number(source: Source, where: str, value: Any) -> float:
    """One number, null as NaN."""
    return _number(source, where, value)


def finite(value: Any) -> float | None:
    """The value where it is a finite number, else None."""
    return float(value) if type(value) in NUMBERS and math.isfinite(value) else None


def text(value: Any) -> str | None:
    """The value where it is text with something in it, else None."""
    return value if isinstance(value, str) and value.strip() else None


def flat(value: Any, prefix: str = "") -> dict[str, float]:
    """The finite numbers within nested objects, by their names joined with dots; no lists."""
    if isinstance(value, dict):
        found: dict[str, float] = {}
        for name, inner in cast(Json, value).items():
            found |= flat(inner, f"{prefix}.{name}" if prefix else str(name))
        return found
    told = finite(value)
    return {} if told is None or not prefix else {prefix: told}


def shown(value: Any) -> str:
    """A value as JSON, 40 characters at most; `missing` for null."""
    if value is None:
        return "missing"
    told = json.dumps(value, default=str)
    return told if len(told) <= 40 else f"{told[:37]}…"


def part(value: Json, *names: str) -> Json:
    """The object under the first of the names that has something; {} where none has.

    Raises ImportProblem, without the file's name, if something else stands there.
    """
    for name in names:
        found = value.get(name)
        if isinstance(found, dict):
            if found:
                return found
        elif found is not None:
            raise ImportProblem(f"{name} is {shown(found)}; expected an object.")
    return {}


def parts(value: Json, name: str) -> list[Json]:
    """The list of objects under a name; [] where nothing stands there; raises as `part` does."""
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise ImportProblem(f"{name} is {shown(found)}; expected a list of objects.")
    for i, one in enumerate(found):
        if not isinstance(one, dict):
            raise ImportProblem(f"{name}[{i}] is {shown(one)}; expected an object.")
    return cast(list[Json], found)


def whole(value: Any) -> int | None:
    """The value as a whole number of things where it is one that the tables hold, else None."""
    told = finite(value)
    return int(told) if told and 0 < told <= MOST_TOKENS and told.is_integer() else None
