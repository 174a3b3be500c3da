"""What a run's folder says while it runs: new lines of live-*.jsonl and the stages begun so far.

A reader only.  Every line is read once; files of a run may appear, grow and hold half a last line.
"""

import threading
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.level_names import unique_names
from storage.live import LiveTail, json_lines

KEEP_US = 340_000_000  # charts show 300 s, and their first point looks back 30 s
COUNTS = ("events", "shared", "missing_stamps")


@dataclass(frozen=True, slots=True)
class LiveLines:
    """What a feed held at one moment; the counts are of the whole run."""

    lines: dict[int, list[dict[str, Any]]]  # worker -> its last KEEP_US
    outcomes: Counter[str]
    classes: dict[str, Counter[str]]  # class -> its outcomes; empty for a plan without classes
    last_details: dict[str, str]  # outcome -> the latest sentence about it
    events: int
    shared: int  # token events whose read also completed a later one
    missing_stamps: int

    @property
    def newest_us(self) -> int:
        """Of the newest line, on the run's time line; 0 before the first."""
        return max((kept[-1]["t_us"] for kept in self.lines.values()), default=0)


class LiveFeed:
    """The live lines of one run, shared by every tab that watches it."""

    def __init__(self, folder: Path) -> None:
        self._tail = LiveTail(folder)
        self._kept: dict[int, deque[dict[str, Any]]] = {}
        self._outcomes: Counter[str] = Counter()
        self._classes: dict[str, Counter[str]] = {}
        self._counts: Counter[str] = Counter()
        self._last_details: dict[str, str] = {}
        self._lock = threading.Lock()

    def read(self) -> LiveLines:
        """Takes in what was appended since the last call."""
        with self._lock:
            for worker, lines in self._tail.read_by_worker().items():
                for line in lines:
                    self._take(worker, line)
            return LiveLines(
                {worker: list(kept) for worker, kept in self._kept.items()},
                self._outcomes.copy(),
                {name: outcomes.copy() for name, outcomes in self._classes.items()},
                self._last_details.copy(),
                **{name: self._counts[name] for name in COUNTS},
            )

    def _take(self, worker: int, line: dict[str, Any]) -> None:
        kept = self._kept.setdefault(worker, deque())
        kept.append(line)
        while kept[0]["t_us"] < line["t_us"] - KEEP_US:
            kept.popleft()
        self._outcomes.update(line["outcomes"])
        for name, seen in (line.get("classes") or {}).items():
            self._classes.setdefault(name, Counter()).update(seen["outcomes"])
        self._counts.update({name: line[name] for name in COUNTS})
        if error := line.get("last_error"):
            self._last_details[error["outcome"]] = error.get("detail") or ""


def read_stages(folder: Path) -> list[dict[str, Any]]:
    """One row per stage begun so far, in order, named apart; the last line of a stage wins."""
    try:
        raw = (folder / "stages.jsonl").read_bytes()
    except FileNotFoundError:
        return []
    stages = {row["stage"]: row for row in json_lines(raw)}
    begun = [stages[k] for k in sorted(stages)]
    names = unique_names(row["name"] for row in begun)
    return [row | {"name": name} for row, name in zip(begun, names, strict=True)]
