"""The leader's eye on a level whose outcome decides what comes next."""

import time
from pathlib import Path

from loadgen.plan import ClosedLoop, Load, Plan
from loadgen.probe_results import LevelSeen
from loadgen.probe_rows import gap_limits_us
from loadgen.program import Step
from loadgen.seats import parts
from storage.live import LiveTail

LOOK_EVERY_S = 0.5


class LevelWatch:
    """Reads the decoders' live lines while a level of a search or sweep goes on."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._plan = plan
        self._tail = LiveTail(run_dir)
        self._gap_limits_us = gap_limits_us(plan.model_dump(mode="json"))
        self._step: Step | None = None
        self._is_enough = False
        self._look_s = 0.0
        self.seen = LevelSeen(-1, {}, [])

    @property
    def is_watched(self) -> bool:
        """Whether what the level shows is wanted."""
        return self._step is not None

    @property
    def is_probe(self) -> bool:
        """Whether the level is there to find out if its load is too much."""
        return self._step is not None and self._step.judge is not None

    def begin(self, stage: int, step: Step) -> None:
        """Watch this level from now on."""
        self._step = step if step.is_watched else None
        self._is_enough = False
        self.seen = LevelSeen(stage, closed_streams(self._plan, step.load), self._gap_limits_us)

    def is_enough(self) -> bool:
        """True once, when the level has become clear."""
        if self._step is None or self._is_enough or time.monotonic() < self._look_s:
            return False
        self._look_s = time.monotonic() + LOOK_EVERY_S
        self._read()
        judge = self._step.judge
        self._is_enough = judge is not None and judge.is_clear(self.seen)
        return self._is_enough

    def has_all(self, until_us: int, workers: list[int]) -> bool:
        """Whether everything is read that came until then; at once so for a level not watched."""
        if self._step is None:
            return True
        self._read()
        return self.seen.is_known_until(until_us, workers)

    def _read(self) -> None:
        self.seen.add(self._tail.read_by_worker())


def closed_streams(plan: Plan, load: Load) -> dict[str, int]:
    """Class -> its streams, which begin together; classes in open loop are left out."""
    names = [traffic.name for traffic in plan.traffic()]
    return {
        names[k]: seats.count(k)
        for part in parts(plan, load)
        if isinstance(part.load, ClosedLoop)
        for seats in [part.seat_classes()]
        for k in part.classes
    }
