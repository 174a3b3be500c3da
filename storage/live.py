"""What the decoders say while a run goes on: the tail of its live-*.jsonl files."""

import json
from pathlib import Path
from typing import Any


class LiveTail:
    """Reads each live line of a run once, in whole lines, however many workers write them."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._read_bytes: dict[Path, int] = {}

    def read(self) -> list[dict[str, Any]]:
        """Lines that came since the last call, workers one after another; half a line waits."""
        lines: list[dict[str, Any]] = []
        for path in sorted(self._run_dir.glob("live-*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._read_bytes.get(path, 0))
                whole, newline, _half = file.read().rpartition(b"\n")
            self._read_bytes[path] = self._read_bytes.get(path, 0) + len(whole) + len(newline)
            lines += _objects(whole)
        return lines


def _objects(whole: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in whole.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:  # an empty line, or the half one that a killed decoder left
            continue
    return found
