"""A damaged write-ahead log, cut where its damage begins; the whole of it is kept beside.

DuckDB opens a log whose end is torn, halved or zeroed by itself, with every transaction before the
tear.  It refuses one with a flipped byte and says where.  Only to be touched while the database is
closed: a descriptor of ours, closed, would drop DuckDB's own lock.
"""

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

_AT = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")


def damaged_at(error: BaseException) -> int | None:
    """The byte at which the damaged entry begins, as DuckDB's refusal tells; None if it does not.

    A log of another file, or one whose header is damaged, has no such place.
    """
    found = _AT.search(str(error))
    return int(found[1]) if found else None


def cut(wal: Path, at_byte: int) -> Path:
    """Leave what lies before `at_byte`; returns where the whole log is kept.

    Killed at any point, `wal` is either as it was or cut.  Raises OSError.
    """
    whole = _free_name(wal)
    aside = wal.with_name(f"{wal.name}.cut")
    with wal.open("rb") as source, aside.open("wb") as target:
        left = at_byte
        while left and (piece := source.read(min(left, 1 << 20))):
            target.write(piece)
            left -= len(piece)
        target.flush()
        os.fsync(target.fileno())
    try:
        os.link(wal, whole)
    except OSError:  # a file system without hard links
        shutil.copyfile(wal, whole)
    aside.replace(wal)
    sync_folder(wal.parent)
    return whole


def put_back(whole: Path, wal: Path) -> None:
    """Undo `cut`."""
    whole.replace(wal)
    sync_folder(wal.parent)


def kept_logs(data: Path) -> list[Path]:
    """Damaged logs that were kept, oldest first."""
    return sorted(data.glob("*.wal.damaged-*"))


def sync_folder(folder: Path) -> None:
    """Names made or replaced in the folder survive a power cut, too."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _free_name(wal: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    names = (f"{wal.name}.damaged-{stamp}{n}" for n in ("", *(f"-{k}" for k in range(2, 1000))))
    return next(path for path in map(wal.with_name, names) if not path.exists())
