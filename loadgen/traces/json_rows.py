"""A file of one JSON object per line in chunks of columns; blank lines left out."""

from collections.abc import Iterator
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from loadgen.traces.chunk import CHUNK_ROWS, Chunk, Wanted, found_names, plain
from loadgen.traces.trace import TraceError
from loadgen.traces.trace_file import check_is_text

_MARK = b"\xef\xbb\xbf"  # of byte order
_Rows = list[tuple[int, dict[str, Any]]]


def json_chunks(path: Path, wanted: Wanted) -> Iterator[Chunk]:
    """The wanted columns, some thousand rows at a time; raises TraceError.

    The first object must have the required keys.  Rows may use different names for one column; a
    key that is null counts as not there.
    """
    check_is_text(path)
    with path.open("rb") as file:
        rows = _numbered_objects(path, file)
        names: dict[str, str] = {}
        while some := list(islice(rows, CHUNK_ROWS)):
            names = names or found_names(path, wanted, some[0][1])
            yield _chunk(path, some, wanted, names)


def key_names(path: Path) -> list[str]:
    """The keys of the file's first object; raises TraceError."""
    check_is_text(path)
    with path.open("rb") as file:
        return list(next(_numbered_objects(path, file), (1, {}))[1])


def _numbered_objects(path: Path, file: BufferedReader) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file, 1):
        text = line.removeprefix(_MARK) if number == 1 else line
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            if not text.strip():
                continue
            raise TraceError(f"{path}, line {number} is not JSON: {error}.") from None
        if not isinstance(value, dict):
            raise TraceError(
                f"{path}, line {number} is a JSON {_KINDS.get(type(value), 'value')}; "
                "expected one object per line."
            )
        yield number, value


def _chunk(path: Path, rows: _Rows, wanted: Wanted, names: dict[str, str]) -> Chunk:
    keys = {plain(key): key for key in set().union(*(row for _, row in rows))}
    columns: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for ours, aliases in {**wanted.required, **wanted.optional}.items():
        present = [keys[alias] for alias in aliases if alias in keys]
        if present:
            columns[ours] = _column(rows, present)
        elif ours in wanted.required:
            columns[ours] = [None] * len(rows)
        shown[ours] = names.get(ours) or (present or aliases)[0]
    return Chunk(path, [line for line, _ in rows], columns, shown, is_text=False)


def _column(rows: _Rows, keys: list[str]) -> list[Any]:
    """Each row's value under the first of `keys` that it has and that is not null."""
    if len(keys) == 1:
        return [row.get(keys[0]) for _, row in rows]
    return [next((row[key] for key in keys if row.get(key) is not None), None) for _, row in rows]


_KINDS = {list: "array", str: "string", int: "number", float: "number"}
