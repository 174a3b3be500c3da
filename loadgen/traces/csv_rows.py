"""A CSV file in chunks of columns: any line ends, quoted cells, blank lines left out."""

import csv
from collections import Counter
from collections.abc import Iterator
from io import TextIOBase
from itertools import islice
from pathlib import Path
from typing import Any

from loadgen.traces.chunk import CHUNK_ROWS, Chunk, Wanted, found_names
from loadgen.traces.trace import TraceError
from loadgen.traces.trace_file import check_is_text, first_line, not_utf8

_CELL_CHARS = 16 * 2**20  # a prompt of a million tokens; the csv module's own limit is 128 KiB
_Rows = list[tuple[int, list[str]]]


def csv_chunks(path: Path, wanted: Wanted) -> Iterator[Chunk]:
    """The wanted columns, some thousand rows at a time; raises TraceError."""
    check_is_text(path)
    delimiter = delimiter_of(first_line(path))
    csv.field_size_limit(_CELL_CHARS)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = _numbered_rows(path, file, delimiter)
        _, header = next(rows, (1, []))
        names = found_names(path, wanted, header)
        twice = [name for name, n in Counter(header).items() if n > 1 and name in names.values()]
        if twice:
            raise TraceError(f"{path} has two columns named {twice[0]!r}; expected one.")
        at = {ours: header.index(theirs) for ours, theirs in names.items()}
        while some := list(islice(rows, CHUNK_ROWS)):
            table = _table(path, some, len(header))
            columns: dict[str, Any] = {ours: table[k] for ours, k in at.items()}
            yield Chunk(path, [line for line, _ in some], columns, names, is_text=True)


def header_names(path: Path) -> list[str]:
    """The names of a CSV file's columns: its first row that is not blank; raises TraceError."""
    check_is_text(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(_numbered_rows(path, file, delimiter_of(first_line(path))), (1, []))[1]


def delimiter_of(header: str) -> str:
    """Comma, semicolon or tab: whichever the header has most of."""
    return max(",;\t", key=header.count)


def _numbered_rows(path: Path, file: TextIOBase, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line the row begins on, cells), without rows that are blank; raises TraceError."""
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if any(row) and (len(row) > 1 or row[0].strip()):
                yield line, row
            line = reader.line_num + 1
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    except csv.Error as error:
        raise TraceError(f"{path}, line {line} is not CSV: {error}.") from None


def _table(path: Path, rows: _Rows, width: int) -> list[tuple[str, ...]]:
    for line, cells in rows:
        if len(cells) != width:
            raise TraceError(
                f"{path}, line {line} has {len(cells)} cells; the header has {width} columns."
            )
    return list(zip(*(cells for _, cells in rows), strict=True))
