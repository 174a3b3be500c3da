"""An outpost's side of shipping: which piece to send next, one at a time, at a gentle pace.

A segment's file is removed once the leader has confirmed that it is whole there, not before.
"""

from pathlib import Path
from typing import Any

from loadgen.machines.pieces import cut, cut_growing
from storage.column_spool import ColumnSegment, column_path, column_segments

PIECE_EVERY_NS = 20_000_000  # at most 12.8 MB/s: a worker at its limit makes some 1 MB/s
LOOK_EVERY_NS = 200_000_000
AGAIN_NS = 2_000_000_000


class Shipping:
    """What of one worker's folder is still to be sent."""

    def __init__(self, run_dir: Path, worker: int) -> None:
        self._spool = run_dir / "spool"
        self._live = run_dir / f"live-{worker}.jsonl"
        self._worker = worker
        self._live_bytes = 0  # that the leader has
        self._offsets: dict[int, int] = {}  # of segments begun: bytes that the leader has
        self._awaited: tuple[str, int] | None = None
        self._looked_ns = 0
        self._pause_ns = 0
        self._prefers_live = True

    def unsent_bytes(self) -> int:
        """In files that wait here, live lines included."""
        segments = sum(s.path.stat().st_size for s in self._segments())
        return segments + self._size_of_live() - self._live_bytes

    def next_piece(self, now_ns: int) -> dict[str, Any] | None:
        """The piece to send now; None if one is on its way, it is too early, or all is sent."""
        wait_ns = AGAIN_NS if self._awaited else self._pause_ns
        if now_ns - self._looked_ns < wait_ns:
            return None
        piece = self._next()
        self._looked_ns = now_ns
        self._pause_ns = PIECE_EVERY_NS if piece else LOOK_EVERY_NS
        self._awaited = (piece["what"], piece["seq"]) if piece else None
        return piece

    def confirmed(self, ack: dict[str, Any]) -> None:
        """What the leader says it has."""
        what, seq = ack["what"], ack["seq"]
        if self._awaited == (what, seq):
            self._awaited = None
        if what == "live":
            self._live_bytes = ack["size"]
        elif ack["done"]:
            column_path(self._spool, self._worker, seq).unlink(missing_ok=True)
            self._offsets.pop(seq, None)
        else:
            self._offsets[seq] = ack["size"]

    def _next(self) -> dict[str, Any] | None:
        """Live lines and segments take turns, so that neither waits for all of the other."""
        self._prefers_live = not self._prefers_live
        finders = (self._next_live, self._next_columns)
        for find in finders if self._prefers_live else reversed(finders):
            if piece := find():
                return piece
        return None

    def _next_live(self) -> dict[str, Any] | None:
        if self._size_of_live() <= self._live_bytes:
            return None
        return {"what": "live", "seq": 0, **cut_growing(self._live, self._live_bytes)}

    def _next_columns(self) -> dict[str, Any] | None:
        for segment in self._segments():
            offset = self._offsets.get(segment.seq, 0)
            return {"what": "columns", "seq": segment.seq, **cut(segment.path, offset)}
        return None

    def _segments(self) -> list[ColumnSegment]:
        return [s for s in column_segments(self._spool) if s.worker == self._worker]

    def _size_of_live(self) -> int:
        try:
            return self._live.stat().st_size
        except FileNotFoundError:
            return 0
