"""A CSV file in chunks of columns: any line ends, quoted cells, blank lines left out."""

import csv
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.traces.chunk import CHUNK_ROWS, Chunk, Wanted, found_names
from loadgen.traces.trace import TraceError
from loadgen.traces.trace_file import check_is_text, first_line, not_utf8

if TYPE_CHECKING:
    from _csv import Reader

_CELL_CHARS = 16 * 2**20  # a prompt of a million tokens; the csv module's own limit is 128 KiB


def csv_chunks(path: Path, wanted: Wanted) -> Iterator[Chunk]:
    """The wanted columns, some thousand rows at a time; raises TraceError."""
    with _rows_of(path) as rows:
        header = next(filter(any, rows), [])
        names = found_names(path, wanted, header)
        twice = [name for name, n in Counter(header).items() if n > 1 and name in names.values()]
        if twice:
            raise TraceError(f"{path} has two columns named {twice[0]!r}; expected one.")
        at = {ours: header.index(theirs) for ours, theirs in names.items()}
        while True:
            lines: list[int] = []
            columns: dict[str, list[str]] = {ours: [] for ours in at}
            targets = [(columns[ours].append, k) for ours, k in at.items()]
            for line, row in islice(_numbered(path, rows, len(header)), CHUNK_ROWS):
                lines.append(line)
                for append, k in targets:
                    append(row[k])
            if not lines:
                return
            yield Chunk(path, lines, columns, names, is_text=True)


def header_names(path: Path) -> list[str]:
    """The names of a CSV file's columns: its first row that is not blank; raises TraceError."""
    with _rows_of(path) as rows:
        return next(filter(any, rows), [])


def delimiter_of(header: str) -> str:
    """Comma, semicolon or tab: whichever the header has most of."""
    return max(",;\t", key=header.count)


@contextmanager
def _rows_of(path: Path) -> "Generator[Reader]":
    check_is_text(path)
    delimiter = delimiter_of(first_line(path))
    csv.field_size_limit(_CELL_CHARS)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            yield reader
        except UnicodeDecodeError:
            raise not_utf8(path) from None
        except csv.Error as error:
            line = reader.line_num
            raise TraceError(f"{path}, line {line} is not CSV: {error}.") from None


def _numbered(path: Path, rows: "Reader", width: int) -> Iterator[tuple[int, list[str]]]:
    """(line the row begins on, cells), without rows that are blank; raises TraceError."""
    line = rows.line_num + 1
    for row in rows:
        if len(row) == width and (row[0] or any(row)):
            yield line, row
        elif any(map(str.strip, row)):
            raise TraceError(
                f"{path}, line {line} has {len(row)} cells; the header has {width} columns."
            )
        line = rows.line_num + 1
