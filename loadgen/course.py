"""What comes next in a run, and whether the level under way has shown enough."""

import time
from collections.abc import Callable, Iterable

from loadgen.level_watch import LevelWatch
from loadgen.plan import Plan
from loadgen.program import Program, Shown, Step
from loadgen.run_ended import RunEnded
from loadgen.run_folder import RunFolder
from loadgen.status import StatusBoard
from storage.records import StageRow

DECODED_WITHIN_S = 30  # of a level's end; what is not known then counts as never known
DEAD_PROBES = 3  # so many in a row without a single answer end a run


class Course:
    """The program of a run with its answers kept in run.json and status.json."""

    def __init__(self, folder: RunFolder, plan: Plan, board: StatusBoard) -> None:
        self._folder = folder
        self._board = board
        self._program = Program(plan)
        self._watch = LevelWatch(folder.path, plan)
        self._shown: Shown | None = None
        self._hopeless = ""  # why a worker gave up a probe, the last time one did
        self._n_dead = 0  # probes in a row that brought no answer

    def next(self) -> Step | None:
        """The next level; None when all are measured."""
        step = self._program.next(self._shown)
        self._shown = None
        if self._program.answers:
            self._board.search(self._program.answers)
            run = self._folder.read("run.json") or {}
            self._folder.write("run.json", {**run, "search": self._program.answers})
        return step

    @property
    def sentences(self) -> list[str]:
        """What the searches and sweeps of the run have found."""
        return [answer["sentence"] for answer in self._program.answers if answer["sentence"]]

    def begin(self, stage: int, step: Step) -> None:
        """A level begins."""
        self._watch.begin(stage, step)

    def is_enough(self) -> bool:
        """True once, when nothing that may still come would change what the level shows."""
        return self._watch.is_enough()

    def forgives(self, why: str) -> bool:
        """Whether a worker may give up a level and the run goes on: a probe may be too much."""
        self._hopeless = why
        return self._watch.is_probe

    def ended(self, row: StageRow, workers: Iterable[int], pause: Callable[[float], None]) -> None:
        """A level has ended: wait until it is decoded, if what it showed decides what comes next.

        Raises RunEnded where the endpoint has gone: the search would go on for ever smaller loads.
        """
        deadline = time.monotonic() + DECODED_WITHIN_S
        alive = list(workers)
        while not self._watch.has_all(row.end_us or 0, alive) and time.monotonic() < deadline:
            pause(0.1)
        if not self._watch.is_watched:
            return
        seen = self._watch.seen
        self._shown = Shown(row.stage, seen, (row.begin_us, row.issue_end_us or row.begin_us))
        is_dead = self._watch.is_probe and seen.n_ended > 0 and not seen.n_complete
        self._n_dead = self._n_dead + 1 if is_dead else 0
        if self._n_dead >= DEAD_PROBES:
            why = f" ({self._hopeless.rstrip('.')})" if self._hopeless else ""
            raise RunEnded(
                "failed",
                f"Not one answer was complete in {DEAD_PROBES} probes in a row{why}. "
                "What was measured until then is kept.",
            )
