"""Files of JSON lines that grow by one write, whose writer may be killed in the middle of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson


def append_lines(path: Path, lines: bytes) -> None:
    """Add whole lines, after ending one that a killed writer left half; raises OSError."""
    with path.open("a+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        is_half = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        rest = memoryview(b"\n" * is_half + lines)
        while rest:
            rest = rest[file.write(rest) :]


def read_lines(path: Path) -> Iterator[Any]:
    """The values of the whole lines, one at a time; halves are left out."""
    with path.open("rb") as file:
        for line in file:
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
