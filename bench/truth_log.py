"""The truth server's log: one file of 32-byte records, and its reader.

A record is (request, seq, realtime_ns, mono_ns, due_ns).  seq >= 0: token `seq` of the request,
both clocks read just before the send() that completed it, due_ns on the monotonic line.  Below 0:
ARRIVAL (realtime_ns = the kernel's stamp of the request's last bytes, 0 if it gave none; mono_ns =
the same instant on the monotonic line; due_ns = CLOCK_REALTIME when they were read), ID_PARTS (24
bytes each of the X-Request-Id), HEAD, FINISH, USAGE, DONE (as tokens) and LEFT (the client went
away before DONE).
"""

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ARRIVAL, LEFT = -1, -9
ID_PARTS = (-2, -3, -4)

RECORD = np.dtype(
    [
        ("request", "<u4"),  # number of the request on this server, from 0
        ("seq", "<i4"),
        ("realtime_ns", "<i8"),
        ("mono_ns", "<i8"),
        ("due_ns", "<i8"),
    ]
)
_RECORD = struct.Struct("<Iiqqq")
_ID_RECORD = struct.Struct("<Ii24s")
_FLUSH_BYTES = 2048 * _RECORD.size


class LogWriter:
    """Appends records; `put` costs one pack_into, `flush` one write."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self._page = bytearray(_FLUSH_BYTES)
        self._used = 0

    def put(self, request: int, seq: int, realtime_ns: int, mono_ns: int, due_ns: int) -> None:
        _RECORD.pack_into(self._page, self._used, request, seq, realtime_ns, mono_ns, due_ns)
        self._used += 32
        if self._used == _FLUSH_BYTES:
            self.flush()

    def put_id(self, request: int, x_request_id: bytes) -> None:
        for i, seq in enumerate(ID_PARTS):
            part = x_request_id[24 * i : 24 * i + 24]
            _ID_RECORD.pack_into(self._page, self._used, request, seq, part)
            self._used += 32
            if self._used == _FLUSH_BYTES:
                self.flush()

    def flush(self) -> None:
        if self._used:
            os.write(self._fd, memoryview(self._page)[: self._used])
            self._used = 0

    def close(self) -> None:
        self.flush()
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class TruthLog:
    """A log in memory."""

    records: np.ndarray  # RECORD, everything, in the order written

    @property
    def tokens(self) -> np.ndarray:
        """Only token records (RECORD)."""
        return self.records[self.records["seq"] >= 0]

    @property
    def arrivals(self) -> np.ndarray:
        """Only ARRIVAL records (RECORD)."""
        return self.records[self.records["seq"] == ARRIVAL]

    def of(self, seq: int) -> np.ndarray:
        """The records with this `seq`."""
        return self.records[self.records["seq"] == seq]

    def only(self, requests: Iterable[int]) -> "TruthLog":
        """The records of these request numbers."""
        return TruthLog(self.records[np.isin(self.records["request"], list(requests))])

    def request_ids(self) -> dict[str, int]:
        """X-Request-Id -> request number; of a repeated id the last; "" where none was sent."""
        parts: dict[int, list[bytes]] = {}
        rows = self.records[np.isin(self.records["seq"], ID_PARTS)]
        texts = np.ascontiguousarray(rows).view(np.uint8).reshape(-1, 32)[:, 8:]
        for request, text in zip(rows["request"].tolist(), texts, strict=True):
            parts.setdefault(request, []).append(text.tobytes())
        return {b"".join(p).rstrip(b"\0").decode("latin-1"): no for no, p in parts.items()}


def read(path: Path) -> TruthLog:
    """The log so far; a record half written is left out."""
    raw = path.read_bytes()
    return TruthLog(np.frombuffer(raw[: len(raw) // 32 * 32], dtype=RECORD))
