"""The load worker's end of the raw spool: an append costs about a microsecond and survives kill -9.

Records go into an mmap of a preallocated file, so the bytes are in the page cache when `read()`
returns and kill -9 of the worker loses none of them; a power cut loses what was not written back.
Why a map, why no fsync, and what each step costs: docs/adr/0002-stamps-and-raw-spool.md.
"""

import contextlib
import fcntl
import mmap
import os
import time
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from storage.populate import populate
from storage.raw_record import CLOSE, HEADER, MARK, OPEN, PULSE, READ, SpoolError

_pack_header = HEADER.pack_into
_BODY = HEADER.size
CAPACITY_BYTES = 8 << 20
MAX_AGE_NS = 1_000_000_000
LIVE_TRIES = 5
SPARE_BYTES = 256 << 10  # pages made ready beyond what the file before was filled with


class _File:
    """One preallocated, locked and mapped file; `.tmp` until it has its place in the order."""

    __slots__ = ("fd", "map", "path", "seq", "size")

    def __init__(self, folder: Path, worker: int, size: int) -> None:
        self.path = folder / f"next-w{worker}-{uuid.uuid4().hex}.tmp"
        self.size = size
        self.seq = -1
        self.fd = -1
        try:
            self.fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            fcntl.flock(self.fd, fcntl.LOCK_EX)  # before the name readers look for
            os.posix_fallocate(self.fd, 0, size)  # a full disk raises here, not as SIGBUS later
            self.map = mmap.mmap(self.fd, size)
        except OSError as error:
            if self.fd >= 0:
                os.close(self.fd)
                self.path.unlink(missing_ok=True)
            raise SpoolError(
                f"The spool {folder} cannot take {size >> 20} MiB more ({error.strerror}). "
                f"Free space there, or point HEADWAY_DATA to a folder that can be written."
            ) from None

    def rename(self, name: str) -> None:
        """Give the file its next name in the same folder; raises OSError."""
        target = self.path.with_name(name)
        self.path.rename(target)
        self.path = target

    def discard(self) -> None:
        """It was made ahead and is not needed."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Unmap and unlock."""
        self.map.close()
        os.close(self.fd)


def _now(job: Callable[[], None]) -> None:
    job()


class RawWriter:
    """Appends records to `folder/raw-w<worker>-<seq>.open`; a sealed file is renamed to `.seg`.

    `raw-w<worker>.lock` is held while the writer lives: a decoder started after this constructor
    knows a dead writer from a quiet one (raw_reader.is_writer_alive).
    aside: runs a job, at once or in a native thread.  Sealing frees blocks and preparing a
    file allocates some: milliseconds on a busy disk, which an event loop should not spend.
    """

    def __init__(
        self,
        folder: Path,
        worker: int,
        aside: Callable[[Callable[[], None]], object] = _now,
        capacity_bytes: int = CAPACITY_BYTES,
    ) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SpoolError(f"The spool folder {folder} cannot be made: {error}.") from None
        self._life = _live(folder, worker)
        self._folder, self._worker = folder, worker
        self._prefix = f"raw-w{worker}-"
        self._aside = aside
        self._capacity = capacity_bytes
        self._seq = _next_seq(folder, self._prefix)
        self._spares: deque[_File] = deque()  # its appends and pops are atomic between threads
        self._sealed = False
        self._old_since_ns: int | None = None
        self._likely_bytes = capacity_bytes  # what the next file will be filled with
        self._use(self._new(self._seq, capacity_bytes))
        self._prepare_next()

    # The hot path, once per read: the payload, then 40 bytes of header, of which the mark is last.
    def read(self, request_id: int, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """Keep one read: when, its kernel stamp's delay (-1 none), the poll before, its bytes."""
        start, length = self._offset, len(data)
        body = start + _BODY
        end = body + length
        if end > self._size:
            start = self._roll(_BODY + length)
            body = start + _BODY
            end = body + length
        view = self._map
        view[body:end] = data
        _pack_header(view, start, READ, request_id, length, mono_ns, delay_ns, poll_ns, MARK)
        self._offset = (end + 7) & -8

    def open(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep what the request was meant to be, before its first byte arrives."""
        self._put(OPEN, request_id, mono_ns, orjson.dumps(meta))

    def close(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep how the request ended."""
        self._put(CLOSE, request_id, mono_ns, orjson.dumps(meta))

    def pulse(self, pulse: dict[str, Any]) -> None:
        """Keep one second of the worker's own health."""
        self._put(PULSE, -1, 0, orjson.dumps(pulse))

    def tick(self, now_ns: int) -> None:
        """Seal the file if it holds records that a tick saw a second ago; call it often."""
        if self._offset == 0 or self._sealed:
            return
        if self._old_since_ns is None:
            self._old_since_ns = now_ns
        elif now_ns - self._old_since_ns >= MAX_AGE_NS:
            self._roll(0)

    def seal(self) -> None:
        """Seal the last file and give up the writer's lock; nothing may be written after this."""
        if self._sealed:
            return
        self._sealed = True
        self._size = 0
        self._drop_spares()
        self._finish(self._file, self._offset)
        os.close(self._life)

    def _put(self, kind: int, request_id: int, mono_ns: int, payload: bytes) -> None:
        start = self._offset
        length = len(payload)
        if start + _BODY + length > self._size:
            start = self._roll(_BODY + length)
        end = start + _BODY + length
        self._map[start + _BODY : end] = payload
        _pack_header(self._map, start, kind, request_id, length, mono_ns, 0, 0, MARK)
        self._offset = (end + 7) & -8

    def _roll(self, needed_bytes: int) -> int:
        """Go on in the next file; its offset.  The new one is open before the old one is sealed."""
        if self._sealed:
            raise SpoolError(f"The spool {self._folder} is sealed; nothing more can be written.")
        old, used = self._file, self._offset
        self._likely_bytes = used + used // 2 + SPARE_BYTES
        spare = self._take_spare() if needed_bytes <= self._capacity else None
        if spare is None:  # + 2: the one after this is being made ahead, and comes too late
            spare = self._new(self._seq + 2, max(self._capacity, needed_bytes))
        self._use(spare)
        self._aside(lambda: self._finish(old, used))
        self._prepare_next()
        return 0

    def _new(self, seq: int, size: int) -> _File:
        """A file in its place of the order, its pages ready to be written."""
        file = _File(self._folder, self._worker, size)
        populate(file.map, min(self._likely_bytes, size))
        file.seq = seq
        try:
            file.rename(f"{self._prefix}{seq:06d}.open")
        except OSError as error:
            file.release()
            raise SpoolError(f"The spool {self._folder} is broken ({error.strerror}).") from None
        return file

    def _take_spare(self) -> _File | None:
        """The file made ahead, if it is there and its place in the order is still to come."""
        with contextlib.suppress(IndexError):
            while True:
                spare = self._spares.popleft()
                if spare.seq > self._seq:
                    return spare
                self._aside(spare.discard)
        return None

    def _use(self, file: _File) -> None:
        self._seq = file.seq
        self._file, self._map, self._size = file, file.map, file.size
        self._offset = 0
        self._old_since_ns = None

    def _prepare_next(self) -> None:
        seq = self._seq + 1
        self._aside(lambda: self._prepare(seq))

    def _prepare(self, seq: int) -> None:
        """Make the next file ahead; should that fail, the roll tries again and raises."""
        if not self._spares and not self._sealed and seq > self._seq:
            try:
                self._spares.append(self._new(seq, self._capacity))
            except SpoolError:
                return
        if self._sealed:  # meanwhile, by the loop's thread
            self._drop_spares()

    def _drop_spares(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._spares.popleft().discard()

    def _finish(self, file: _File, used: int) -> None:
        with contextlib.suppress(OSError):  # a sick disk: left `.open` and unlocked, it is read so
            os.ftruncate(file.fd, used)
            file.rename(file.path.name.replace(".open", ".seg"))
        file.release()


def _live(folder: Path, worker: int) -> int:
    """Take the writer's lock for its life; the descriptor."""
    path = folder / f"raw-w{worker}.lock"
    try:
        fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise SpoolError(f"The spool {folder} cannot be written ({error.strerror}).") from None
    for _ in range(LIVE_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:  # for a moment only, if a decoder just looked who lives
            time.sleep(0.01)
    os.close(fd)
    raise SpoolError(f"{path} is locked: a live process already is worker {worker}.")


def _next_seq(folder: Path, prefix: str) -> int:
    taken = [int(p.stem.removeprefix(prefix)) for p in folder.glob(f"{prefix}*.*")]
    return max(taken, default=-1) + 1
