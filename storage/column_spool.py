"""The column spool, decoder -> store: what each raw segment meant, one sealed file for each.

`spool/col-w<worker>-<seq>.seg` has the seq of its raw segment and is a numpy .npz: `tokens`
(records.TOKEN_EVENT), `requests` and `pulses` (JSON lines as uint8).  It is written aside, synced
and renamed, so a name that ends in .seg is a whole file.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from storage.records import TOKEN_EVENT, RequestRow


class ColumnSegment(NamedTuple):
    """One sealed file."""

    worker: int
    seq: int
    path: Path


def write_columns(
    path: Path,
    tokens: NDArray[np.void],
    requests: Iterable[RequestRow | dict[str, Any]],
    pulses: Iterable[dict[str, Any]],
) -> None:
    """Seal one segment at `path` (see column_path); raises OSError and leaves no .seg then."""
    assert tokens.dtype == TOKEN_EVENT, "tokens must be records.TOKEN_EVENT"
    aside = path.with_suffix(".tmp")
    with aside.open("wb") as file:
        np.savez(file, tokens=tokens, requests=_lines(requests), pulses=_lines(pulses))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name survives a power cut, too
    finally:
        os.close(folder)


def read_columns(
    path: Path,
) -> tuple[NDArray[np.void], list[dict[str, Any]], list[dict[str, Any]]]:
    """(token events, request rows as RequestRow.to_dict() gives them, pulses)."""
    with np.load(path, allow_pickle=False) as columns:
        return columns["tokens"], _objects(columns["requests"]), _objects(columns["pulses"])


def column_path(folder: Path, worker: int, seq: int) -> Path:
    """Where the segment of a worker's raw segment `seq` lies."""
    return folder / f"col-w{worker}-{seq:06d}.seg"


def column_segments(folder: Path) -> list[ColumnSegment]:
    """Every sealed segment of a run, by worker, oldest first."""
    found: list[ColumnSegment] = []
    for path in folder.glob("col-w*-*.seg"):
        worker, _, seq = path.stem.removeprefix("col-w").partition("-")
        found.append(ColumnSegment(int(worker), int(seq), path))
    return sorted(found)


def decoded_mark(folder: Path, worker: int) -> Path:
    """The file whose existence says: the worker is gone and all it saw is in column segments."""
    return folder / f"decoded-w{worker}"


def _lines(rows: Iterable[RequestRow | dict[str, Any]]) -> NDArray[np.uint8]:
    lines = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    return np.frombuffer(lines, np.uint8)


def _objects(lines: NDArray[np.uint8]) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in lines.tobytes().split(b"\n") if line]
