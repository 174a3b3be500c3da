"""The leader's side of shipping: a remote worker's columns and live lines into the run's folder.

They get the names they would have had here, so that the store takes them in like any other, each
segment once (its ledger).
"""

from pathlib import Path
from typing import Any

from loadgen.machines.pieces import PIECE_BYTES, PieceError, Whole
from loadgen.run_folder import RunFolder
from storage.column_spool import COUNTS_SEQ, column_path, decoded_mark

Ack = dict[str, Any]
"""what, seq: as asked; size: bytes that are here; done: the file is whole, remove yours."""


class Homecoming:
    """What came home from one worker so far."""

    def __init__(self, folder: RunFolder, worker: int) -> None:
        self._folder = folder
        self._worker = worker
        self._open: dict[int, Whole] = {}
        self._done: set[int] = set()  # also those the store has taken and removed since
        self._live: Path = folder.path / f"live-{worker}.jsonl"
        self._live_bytes = 0

    def take(self, piece: dict[str, Any]) -> Ack:
        """Write one piece; the answer says where to go on.  Raises PieceError, OSError."""
        _check(piece)
        if piece["what"] == "live":
            return self._take_live(piece)
        return self._take_columns(piece)

    def settled(self) -> None:
        """Nothing more comes: what the store waits for is all there."""
        decoded_mark(self._folder.spool, self._worker).touch()

    def _take_live(self, piece: dict[str, Any]) -> Ack:
        """As it is: readers wait for the other half of a line, which may come in the next piece."""
        if piece["offset"] == self._live_bytes:
            with self._live.open("r+b" if self._live_bytes else "wb") as file:
                file.seek(self._live_bytes)
                file.write(piece["bytes"])
            self._live_bytes += len(piece["bytes"])
        return {"what": "live", "seq": 0, "size": self._live_bytes, "done": False}

    def _take_columns(self, piece: dict[str, Any]) -> Ack:
        seq = piece["seq"]
        if seq not in self._done:
            whole = self._open.get(seq)
            if whole is None:
                whole = Whole(column_path(self._folder.spool, self._worker, seq))
                self._open[seq] = whole
            whole.add(piece)
            if whole.is_done:
                self._done.add(seq)
                del self._open[seq]
        is_done = seq in self._done
        size = piece["total"] if is_done else self._open[seq].size
        return {"what": "columns", "seq": seq, "size": size, "done": is_done}


def _check(piece: dict[str, Any]) -> None:
    """Raises PieceError for anything that no outpost of ours sends."""
    numbers = (piece.get("seq"), piece.get("offset"), piece.get("total"))
    if not all(isinstance(n, int) and n >= 0 for n in numbers) or piece["seq"] > COUNTS_SEQ:
        raise PieceError(f"A piece has odd numbers: {numbers}.")
    if piece.get("what") not in ("columns", "live") or not isinstance(piece.get("bytes"), bytes):
        raise PieceError("A piece is of no known kind.")
    if len(piece["bytes"]) > PIECE_BYTES:
        raise PieceError(f"A piece has {len(piece['bytes'])} bytes, more than {PIECE_BYTES}.")
    if not isinstance(piece.get("sha256"), str | None):
        raise PieceError("A piece's digest is no text.")
