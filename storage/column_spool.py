"""The column spool, decoder -> store: what each raw segment meant, one sealed file for each.

`spool/col-w<worker>-<seq>.seg` has the seq of its raw segment and is a numpy .npz: `tokens`
(records.TOKEN_EVENT), `requests` and `pulses` (JSON lines as uint8), `counts` (TOKENIZER_COUNT;
only in the segment COUNTS_SEQ, which follows all others of its worker).  It is written aside,
synced and renamed, so a name that ends in .seg is a whole file.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from storage.records import TOKEN_EVENT, RequestRow

TOKENIZER_COUNT = np.dtype([("request_id", "<i4"), ("n_tokens", "<i4")])
"""How many tokens a tokenizer finds in the text of a request that is in an earlier segment."""
COUNTS_SEQ = 2**31 - 1
"""No raw segment's seq: that of the one with the counts, whenever and however often written."""


class ColumnSegment(NamedTuple):
    """One sealed file."""

    worker: int
    seq: int
    path: Path


class Columns(NamedTuple):
    """What one segment holds."""

    tokens: NDArray[np.void]  # records.TOKEN_EVENT
    requests: list[dict[str, Any]]  # rows as RequestRow.to_dict() gives them
    pulses: list[dict[str, Any]]
    counts: NDArray[np.void]  # TOKENIZER_COUNT


def write_columns(
    path: Path,
    tokens: NDArray[np.void],
    requests: Iterable[RequestRow | dict[str, Any]],
    pulses: Iterable[dict[str, Any]],
) -> None:
    """Seal one segment at `path` (see column_path); raises OSError and leaves no .seg then."""
    assert tokens.dtype == TOKEN_EVENT, "tokens must be records.TOKEN_EVENT"
    _seal(path, tokens=tokens, requests=_lines(requests), pulses=_lines(pulses))


def write_counts(path: Path, counts: NDArray[np.void]) -> None:
    """Seal the segment of a worker's tokenizer counts; raises OSError as write_columns does."""
    assert counts.dtype == TOKENIZER_COUNT, "counts must be TOKENIZER_COUNT"
    none = {"tokens": np.empty(0, TOKEN_EVENT), "requests": _lines([]), "pulses": _lines([])}
    _seal(path, **none, counts=counts)


def read_columns(path: Path) -> Columns:
    """Everything in one segment."""
    with np.load(path, allow_pickle=False) as columns:
        no_counts = np.empty(0, TOKENIZER_COUNT)
        return Columns(
            tokens=columns["tokens"],
            requests=_objects(columns["requests"]),
            pulses=_objects(columns["pulses"]),
            counts=columns["counts"] if "counts" in columns.files else no_counts,
        )


def _seal(path: Path, **arrays: NDArray[Any]) -> None:
    aside = path.with_suffix(".tmp")
    with aside.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name survives a power cut, too
    finally:
        os.close(folder)


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
