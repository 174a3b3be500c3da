"""Reading the raw spool: which segments are there, whose writer lives, and the records of one."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from storage.raw_record import HEADER, MARK, RawRecord

SegmentState = Literal["open", "orphan", "sealed", "done"]
_STATES: dict[str, SegmentState] = {".seg": "sealed", ".done": "done"}


class RawSegment(NamedTuple):
    """One file of a worker.  orphan: left `.open` by a dead worker; readable as it is."""

    seq: int
    path: Path
    state: SegmentState


class RawReader:
    """Iterates over the records of one file, in the order written; raises FileNotFoundError.

    After a full iteration `damage` is None, or one sentence saying where the file stops making
    sense (a disk or a power cut; a killed writer leaves a clean end).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: str | None = None
        self._bytes = path.read_bytes()

    def __iter__(self) -> Iterator[RawRecord]:
        whole, unpack, header = self._bytes, HEADER.unpack_from, HEADER.size
        start, size = 0, len(self._bytes)
        while start + header <= size:
            kind, request_id, length, mono_ns, delay_ns, poll_ns, mark = unpack(whole, start)
            if mark == 0:
                return
            end = start + header + length
            if mark != MARK or end > size:
                self.damage = f"{self.path.name} is damaged at byte {start}; the rest is not read."
                return
            payload = whole[start + header : end]
            yield RawRecord(kind, request_id, mono_ns, delay_ns, poll_ns, payload)
            start = (end + 7) & -8


def raw_segments(folder: Path, worker: int) -> list[RawSegment]:
    """The worker's segments, oldest first.

    A live writer renames: a path that is gone when it is read means "look again".  Segments are
    sealed in order but aside, so a `sealed` one may follow an `open` one for a moment: stop there.
    """
    found = [
        RawSegment(int(path.stem.rpartition("-")[2]), path, _state(path))
        for path in folder.glob(f"raw-w{worker}-*.*")
    ]
    return sorted(found)


def is_writer_alive(folder: Path, worker: int) -> bool:
    """Whether a RawWriter of this worker lives; False too before it was constructed.

    Ask this first and look for segments afterwards: what a dead writer left stays.
    """
    return _is_locked(folder / f"raw-w{worker}.lock")


def remove_leftovers(folder: Path, worker: int) -> None:
    """Remove what a dead writer had made ahead; only once `is_writer_alive` says no."""
    for path in folder.glob(f"next-w{worker}-*.tmp"):
        path.unlink(missing_ok=True)


def backlog_bytes(folder: Path, worker: int) -> int:
    """Bytes of sealed segments that wait for the decoder."""
    total = 0
    for path in folder.glob(f"raw-w{worker}-*.seg"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # decoded meanwhile
            continue
    return total


def _state(path: Path) -> SegmentState:
    if path.suffix != ".open":
        return _STATES[path.suffix]
    return "open" if _is_locked(path) else "orphan"


def _is_locked(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
