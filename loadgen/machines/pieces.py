"""Files that cross a slow or broken line in small pieces, and are whole or absent at the end.

The receiver says how much of a file it has; the sender sends the next piece from there.  So a piece
that comes twice, or a line that is cut, changes nothing.  A piece is small because a load worker
may be sending its requests over the same line.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

PIECE_BYTES = 256 << 10
MOST_FILE_BYTES = 4 << 30


class PieceError(ValueError):
    """What came is no piece of the file it should be."""


def cut(path: Path, offset: int) -> dict[str, Any]:
    """The piece at `offset` of a file that does not change; the last one carries its SHA-256."""
    with path.open("rb") as file:
        total = file.seek(0, os.SEEK_END)
        file.seek(offset)
        piece = file.read(PIECE_BYTES)
        digest = None
        if offset + len(piece) >= total:
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"offset": offset, "total": total, "bytes": piece, "sha256": digest}


def cut_growing(path: Path, offset: int) -> dict[str, Any]:
    """The piece at `offset` of a file that grows, as far as it is there."""
    with path.open("rb") as file:
        file.seek(offset)
        piece = file.read(PIECE_BYTES)
    return {"offset": offset, "total": offset + len(piece), "bytes": piece, "sha256": None}


class Whole:
    """One file as it comes in: `path` exists once all of it is there and is right."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._aside = path.with_suffix(".tmp")
        self._aside.unlink(missing_ok=True)  # of a leader before this one
        self.size = 0
        self.is_done = False

    def add(self, piece: dict[str, Any]) -> None:
        """Take the piece that comes next; another one is ignored.

        Raises PieceError, and the file begins anew; OSError (a full disk), and nothing is changed.
        """
        if self.is_done or piece["offset"] != self.size:
            return
        size = self.size + len(piece["bytes"])
        if size > piece["total"] or piece["total"] > MOST_FILE_BYTES:
            raise PieceError(f"{self.path.name} would have {size} of {piece['total']} bytes.")
        with self._aside.open("r+b" if self.size else "wb") as file:
            file.seek(self.size)
            file.write(piece["bytes"])
        self.size = size
        if size == piece["total"]:
            self._finish(piece["sha256"])

    def _finish(self, sha256: str) -> None:
        with self._aside.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != sha256:
                self.size = 0
                raise PieceError(f"{self.path.name} came in damaged; it is asked for again.")
            os.fsync(file.fileno())
        self._aside.rename(self.path)
        self.is_done = True
