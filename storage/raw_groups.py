"""One raw segment's records by request: what the decoder wants, faster than record by record.

A stream's reads one after another keep its state in the processor's cache: 512 interleaved streams
cost a third more.  The record format is raw_record's; RawReader is the test's oracle.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.raw_record import CLOSE, HEADER, MARK, OPEN, PULSE, READ

_FIELDS = {
    "kind": ("u1", 0),
    "request_id": ("<i4", 4),
    "length": ("<u4", 8),
    "mono_ns": ("<i8", 12),
    "delay_ns": ("<i8", 20),
    "poll_ns": ("<i8", 28),
    "mark": ("<u4", 36),
}
HEADERS = np.dtype(
    {
        "names": list(_FIELDS),
        "formats": [kind for kind, _ in _FIELDS.values()],
        "offsets": [at for _, at in _FIELDS.values()],
        "itemsize": HEADER.size,
    }
)
_NOWHERE = np.empty(0, np.int64)
_WORD = 8  # each record begins at a multiple of so many bytes
_MARK_AT = _FIELDS["mark"][1]


class Reads:
    """Reads by request, each one's in their order; their times are columns (int64).

    The bytes become objects only when asked for: so those of one stream at a time need memory, and
    are found in the processor's cache.
    """

    __slots__ = ("_begins", "_whole", "headers")

    def __init__(self, whole: bytes, headers: NDArray[np.void], begins: NDArray[np.int64]) -> None:
        self._whole, self.headers, self._begins = whole, headers, begins

    def __len__(self) -> int:
        return len(self.headers)

    def __getitem__(self, part: slice) -> "Reads":
        return Reads(self._whole, self.headers[part], self._begins[part])

    def payloads(self) -> list[bytes]:
        """What was read."""
        whole, begins = self._whole, self._begins
        ends = begins + self.headers["length"]
        return [whole[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def times(self) -> list[list[int]]:
        """mono_ns, delay_ns and poll_ns, column by column."""
        return [self.headers[name].tolist() for name in ("mono_ns", "delay_ns", "poll_ns")]


@dataclass(slots=True)
class RawGroups:
    """A segment's payloads.  A request has at most one open and one close in it."""

    opens: dict[int, bytes] = field(default_factory=dict[int, bytes])
    reads: Reads = field(default_factory=lambda: Reads(b"", np.empty(0, HEADERS), _NOWHERE))
    places: dict[int, slice] = field(default_factory=dict[int, slice])  # of each request's in them
    closes: dict[int, bytes] = field(default_factory=dict[int, bytes])
    pulses: list[bytes] = field(default_factory=list[bytes])
    last_mono_ns: int = 0  # of the newest record; 0 if there is none
    damage: str | None = None  # where the file stops making sense


def read_groups(path: Path) -> RawGroups:
    """The records of one file, up to its damage if any; FileNotFoundError if it is gone."""
    whole = path.read_bytes()
    groups = RawGroups()
    starts = _starts_by_marks(whole)
    if starts is None:
        starts, damaged_at = _starts_one_by_one(whole)
        if damaged_at is not None:
            groups.damage = f"{path.name} is damaged at byte {damaged_at}; the rest is lost"
    headers = _headers(whole, starts)
    begins = starts + HEADER.size
    _group_reads(groups, whole, headers, begins)
    for k in np.flatnonzero(headers["kind"] != READ).tolist():
        begin, header = int(begins[k]), headers[k]
        _other(groups, header, whole[begin : begin + int(header["length"])])
    times_ns = headers["mono_ns"]
    groups.last_mono_ns = int(times_ns[times_ns != 0][-1:].sum())  # of one, or of none
    return groups


def _starts_by_marks(whole: bytes) -> NDArray[np.int64] | None:
    """Where the records begin: at the marks, if from each one's end the next one begins.

    None if that is not so: a payload holds a mark, or the file is damaged.
    """
    words = np.frombuffer(whole, "<u4", len(whole) // _WORD * 2)
    starts = np.flatnonzero(words[_MARK_AT // 4 :: 2] == MARK) * _WORD
    ends = starts + HEADER.size + _headers(whole, starts)["length"]
    nexts = (ends + _WORD - 1) & -_WORD
    follows = np.concatenate(([0], nexts))  # where a record must begin
    is_whole = np.array_equal(follows[:-1], starts) and (ends[-1:] <= len(whole)).all()
    mark_at = int(follows[-1]) + _MARK_AT  # a clean end: no room for a header, or an unfinished one
    return starts if is_whole and not any(whole[mark_at : mark_at + 4]) else None


def _starts_one_by_one(whole: bytes) -> tuple[NDArray[np.int64], int | None]:
    """Where the records begin, and where the damage does if there is any."""
    starts: list[int] = []
    start, size, damaged_at = 0, len(whole), None
    while start + HEADER.size <= size:
        _, _, length, _, _, _, mark = HEADER.unpack_from(whole, start)
        end = start + HEADER.size + length
        if mark != MARK or end > size:
            damaged_at = start if mark else None
            break
        starts.append(start)
        start = (end + _WORD - 1) & -_WORD
    return np.array(starts, np.int64), damaged_at


def _headers(whole: bytes, starts: NDArray[np.int64]) -> NDArray[np.void]:
    words = np.frombuffer(whole, "<u8", len(whole) // _WORD)
    rows = words[starts[:, np.newaxis] // _WORD + np.arange(HEADER.size // _WORD)]
    return rows.view(HEADERS).reshape(-1)


def _group_reads(
    groups: RawGroups, whole: bytes, headers: NDArray[np.void], begins: NDArray[np.int64]
) -> None:
    """A request's reads side by side; the oldest request first."""
    are_reads = np.flatnonzero(headers["kind"] == READ)
    order = are_reads[np.argsort(headers["request_id"][are_reads], kind="stable")]
    headers, begins = headers[order], begins[order]
    request_ids, firsts = np.unique(headers["request_id"], return_index=True)
    groups.reads = Reads(whole, headers, begins)
    places = map(slice, firsts.tolist(), [*firsts[1:].tolist(), len(headers)])
    groups.places = dict(zip(request_ids.tolist(), places, strict=True))


def _other(groups: RawGroups, header: Any, payload: bytes) -> None:
    kind, request_id = int(header["kind"]), int(header["request_id"])
    if kind == OPEN:
        groups.opens[request_id] = payload
    elif kind == CLOSE:
        groups.closes[request_id] = payload
    elif kind == PULSE:
        groups.pulses.append(payload)
