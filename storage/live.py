"""What the decoders say while a run goes on: the tail of its live-*.jsonl files."""

from pathlib import Path
from typing import Any

import orjson

Line = dict[str, Any]


class LiveTail:
    """Reads each live line of a run once, in whole lines, however many workers write them."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._read_bytes: dict[Path, int] = {}

    def read(self) -> list[Line]:
        """Lines that came since the last call, workers one after another; half a line waits."""
        return [line for lines in self.read_by_worker().values() for line in lines]

    def read_by_worker(self) -> dict[int, list[Line]]:
        """The same, worker -> its lines, none where nothing is new."""
        return {
            int(path.stem.removeprefix("live-")): self._new_lines(path)
            for path in sorted(self._run_dir.glob("live-*.jsonl"))
        }

    def _new_lines(self, path: Path) -> list[Line]:
        begin = self._read_bytes.get(path, 0)
        with path.open("rb") as file:
            file.seek(begin)
            whole, newline, _half = file.read().rpartition(b"\n")
        self._read_bytes[path] = begin + len(whole) + len(newline)
        return json_lines(whole)


def json_lines(whole: bytes) -> list[Line]:
    """The JSON objects of whole lines; a killed writer may have left half of one."""
    found: list[Line] = []
    for line in whole.split(b"\n"):
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
