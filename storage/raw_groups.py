"""One raw segment's records by request: what the decoder wants, faster than record by record.

A stream's reads one after another keep its state in the processor's cache: 512 interleaved streams
cost a third more.  The record format is raw_record's; RawReader is the test's oracle.
"""

from dataclasses import dataclass, field
from pathlib import Path

from storage.raw_record import CLOSE, HEADER, MARK, OPEN, PULSE, READ

Read = tuple[int, int, int, bytes]
"""mono_ns, delay_ns, poll_ns, data; see raw_record.RawRecord."""


@dataclass(slots=True)
class RawGroups:
    """A segment's payloads.  A request has at most one open and one close in it."""

    opens: dict[int, bytes] = field(default_factory=dict[int, bytes])
    reads: dict[int, list[Read]] = field(default_factory=dict[int, list[Read]])
    closes: dict[int, bytes] = field(default_factory=dict[int, bytes])
    pulses: list[bytes] = field(default_factory=list[bytes])
    last_mono_ns: int = 0  # of the newest record; 0 if there is none
    damage: str | None = None  # where the file stops making sense


def read_groups(path: Path) -> RawGroups:
    """The records of one file, up to its damage if any; FileNotFoundError if it is gone."""
    whole = path.read_bytes()
    groups = RawGroups()
    reads, unpack, header = groups.reads, HEADER.unpack_from, HEADER.size
    start, size = 0, len(whole)
    while start + header <= size:
        kind, request_id, length, mono_ns, delay_ns, poll_ns, mark = unpack(whole, start)
        begin = start + header
        end = begin + length
        if mark != MARK or end > size:
            if mark:
                groups.damage = f"{path.name} is damaged at byte {begin - header}; the rest is lost"
            return groups
        payload = whole[begin:end]
        if kind == READ:
            if request_id in reads:
                reads[request_id].append((mono_ns, delay_ns, poll_ns, payload))
            else:
                reads[request_id] = [(mono_ns, delay_ns, poll_ns, payload)]
            groups.last_mono_ns = mono_ns
        else:
            _other(groups, kind, request_id, payload)
            groups.last_mono_ns = mono_ns or groups.last_mono_ns
        start = (end + 7) & -8
    return groups


def _other(groups: RawGroups, kind: int, request_id: int, payload: bytes) -> None:
    if kind == OPEN:
        groups.opens[request_id] = payload
    elif kind == CLOSE:
        groups.closes[request_id] = payload
    elif kind == PULSE:
        groups.pulses.append(payload)
