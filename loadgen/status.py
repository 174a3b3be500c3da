"""What the leader tells the world: status.json each half second, stages.jsonl as levels pass."""

import time
from dataclasses import asdict
from typing import Any

import gevent

from loadgen.plan import Load, Plan
from loadgen.program import known_levels
from loadgen.run_folder import RunFolder
from storage.records import StageRow

EVERY_S = 0.5


class StatusBoard:
    """The run's state as anyone may read it at any time; written whole, so never torn."""

    def __init__(self, folder: RunFolder, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._began = time.monotonic()
        self._pulses: dict[int, dict[str, Any]] = {}
        self._status = folder.read("status.json") or {"run_uid": folder.run_uid}
        levels = known_levels(plan)
        self._status["n_stages"] = len(levels) if levels else None  # it depends on what they show
        self._status["planned_s"] = planned_s(levels)

    def state(self, state: str, message: str) -> None:
        """A new state with its sentence, written at once."""
        self._status |= {"state": state, "message": message}
        self.write()

    def notes(self, notes: list[str]) -> None:
        """Sentences on what the run's numbers will lack."""
        self._status["notes"] = notes

    def search(self, answers: list[dict[str, Any]]) -> None:
        """What searches and sweeps have found so far."""
        self._status["search"] = answers

    def begin(self) -> None:
        """The measured time starts now."""
        self._began = time.monotonic()

    def stage(self, row: StageRow, load: Load) -> None:
        """A level began or ended."""
        self._folder.append("stages.jsonl", asdict(row))
        self._status |= {"stage": row.stage, "stage_name": row.name}
        self._status["stage_seconds"] = load.seconds
        self._status["stage_requests"] = load.requests
        self._status["stage_began_us"] = row.begin_us
        self.write()

    def pulse(self, pulse: dict[str, Any]) -> None:
        """A worker's last second."""
        self._pulses[pulse["worker"]] = pulse

    def keep_writing(self) -> None:
        """Loop for ever: readers see a file that is at most half a second old."""
        while True:
            gevent.sleep(EVERY_S)
            self.write()

    def write(self) -> None:
        """Sum up the workers and replace status.json."""
        for name in ("done", "failed", "in_flight", "sent", "not_sent"):
            self._status[name] = sum(p[name] for p in self._pulses.values())
        self._status["elapsed_s"] = round(time.monotonic() - self._began, 2)
        self._status["updated_at"] = time.time()
        self._folder.write("status.json", self._status)


def planned_s(levels: list[Load] | None) -> float | None:
    """Seconds of load as planned; None if a level ends by its requests alone, or is not known."""
    if levels is None or any(level.seconds is None for level in levels):
        return None
    return sum(level.seconds or 0 for level in levels)
