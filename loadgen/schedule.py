"""What each worker sends and when: its share of every level, and the requests in it."""

from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from loadgen.arrival_rows import Rows, dealt
from loadgen.draws import Drawn
from loadgen.level_schedule import LevelSchedule
from loadgen.plan import ClosedLoop, Load, Plan
from loadgen.planned import Phase, PlannedRequest, Visit
from loadgen.prompts.material import Ask, Material, Prompt, assumed
from loadgen.replay_record import told
from loadgen.seats import Role, split

__all__ = ["PlannedRequest", "Shard", "Share", "Visit", "quotas"]
PREPARED_ROWS = 2**21  # so many arrivals are known before the clock starts; others as it runs


class Shard:
    """What worker `worker` of `n_workers` asks for, level by level.

    request_id = worker + n_workers * k: unique in the run without talking to each other.
    material: the run's; None: one word is one token, and the plan names no prompt files.
    """

    def __init__(
        self, plan: Plan, worker: int, n_workers: int, material: Material | None = None
    ) -> None:
        if not 0 <= worker < n_workers:
            raise AssertionError(
                f"worker {worker} of {n_workers}: a reconnected worker has no shard"
            )
        self.plan = plan
        self.worker = worker
        self.n_workers = n_workers
        self.nth = (worker, n_workers)  # of the arrivals: (which, of how many)
        self._ids = count(worker, n_workers)
        self.material = material or assumed(plan, "")

    def among(self, workers: list[int]) -> None:
        """Levels shared from now on are those workers' alone: the others were lost."""
        self.nth = (workers.index(self.worker), len(workers))

    def share(self, stage: int, load: Load) -> "Share":
        """This worker's share of a level, made ready; raises ValueError if a file is no good."""
        return Share(self, stage, load)

    def request_id(self) -> int:
        """The next one."""
        return next(self._ids)


class Share:
    """One worker's share of one level: its arrivals, and the visits of its seats."""

    def __init__(self, shard: Shard, stage: int, load: Load) -> None:
        self.stage = stage
        self.load = load
        self._shard = shard
        self._schedule = LevelSchedule(shard.plan, stage, load, shard.material)
        self.parts = self._schedule.parts
        self._classes = [part.seat_classes() for part in self.parts]
        self._numbers: dict[tuple[int, int], Iterator[int]] = {}
        self._rows = dealt(self._schedule.rows(), *shard.nth)
        self._ready: deque[Rows] = deque()
        rows = 0
        while rows < PREPARED_ROWS and (block := next(self._rows, None)) is not None:
            self._ready.append(block)
            rows += len(block)

    @property
    def replay_told(self) -> dict[str, Any] | None:
        """What was made of the level's trace, as the leader keeps it; None if its load is none."""
        replay = self._schedule.replay
        return None if replay is None else told(replay.record, replay.notes)

    def arrivals(self) -> Iterator[Visit]:
        """This worker's arrivals: every n-th of the whole schedule."""
        while True:
            block = self._ready.popleft() if self._ready else next(self._rows, None)
            if block is None:
                return
            columns = (block.traffic, block.index, block.turns, block.due_ns)
            yield from map(Visit, *(column.tolist() for column in columns))

    def most_within(self, seconds: float) -> int:
        """Arrivals of this worker within so many seconds, where they are densest."""
        if not self._ready:
            return 0
        due_ns = np.concatenate([rows.due_ns for rows in self._ready])
        upto = np.searchsorted(due_ns, due_ns + round(seconds * 1e9))
        return int((upto - np.arange(len(due_ns))).max(initial=0))

    def spans(self, role: Role) -> list[tuple[int, int]]:
        """The [begin, end) in ns of the level during which a seat is on."""
        return self.parts[role.part].spans(role.seat)

    def number_from(self, first: int) -> None:
        """The stage's own seats on this worker take their requests from number `first` on.

        Workers told the sum of the quotas before theirs send each number once: of a file's prompts
        as many as were asked for.  Where classes or conversations are mixed nobody knows how many
        numbers a quota needs, so there every worker takes every n-th.
        """
        classes = self.parts[0].classes
        is_simple = len(classes) == 1 and (
            self._shard.plan.traffic()[classes[0]].workload.conversation is None
        )
        if is_simple:
            self._numbers[0, classes[0]] = count(first)

    def visits(self, role: Role) -> Iterator[Visit]:
        """What a seat does, visit by visit; endless, for it is the level that ends.

        Seats of one class draw from the same numbers, whichever asks first.
        """
        traffic = self._classes[role.part][role.seat]
        every_nth = count(*self._shard.nth)
        numbers = self._numbers.setdefault((role.part, traffic), every_nth)
        for index in numbers:
            yield self._schedule.visit(traffic, index)

    def think_ns(self, visit: Visit, turn: int) -> int:
        """The pause between the end of the turn before and this turn."""
        return self._schedule.drawn(visit.traffic, visit.number, turn).think_ns

    def request(self, visit: Visit, turn: int, due_ns: int | None, phase: Phase) -> PlannedRequest:
        """One turn of a visit.  due_ns: from the level's begin."""
        traffic, index = visit.traffic, visit.number
        work = self._shard.plan.traffic()[traffic].workload
        drawn = self._schedule.drawn(traffic, index, turn)
        talk = self._schedule.talk(traffic, index, turn)
        prompt = self._prompt(visit, turn, drawn)
        return PlannedRequest(
            request_id=self._shard.request_id(),
            stage=self.stage,
            due_ns=due_ns,
            prompt=prompt.text,
            prompt_tokens=prompt.tokens and prompt.tokens * work.inputs_per_request,
            max_tokens=prompt.output_tokens or drawn.output_tokens,
            ignore_eos=work.ignore_eos,
            is_streamed=work.stream,
            inputs=work.inputs_per_request,
            traffic=traffic,
            messages=prompt.messages,
            conversation=None if talk is None else talk.conversation,
            turn=None if talk is None else talk.turn,
            turns=visit.turns,
            prefix_group=drawn.prefix_group,
            prompt_no=prompt.prompt_no,
            phase=phase,
        )

    def _prompt(self, visit: Visit, turn: int, drawn: Drawn) -> Prompt:
        traced = self._schedule.traced(visit.traffic, visit.number)
        if traced is not None and traced.text:
            return Prompt(traced.text, None, drawn.prompt_tokens, prompt_no=traced.row)
        ask = Ask(
            self.stage,
            visit.traffic,
            visit.number,
            drawn.prompt_tokens,
            turn,
            drawn.prefix_group,
            traced.blocks if traced else (),
        )
        return self._shard.material.prompt(ask)


def quotas(requests: int | None, seats: list[int]) -> list[int | None]:
    """A closed stage's requests split over workers in proportion to their seats; sums exactly."""
    if requests is None or not sum(seats):
        return [None] * len(seats)
    return list(split(requests, seats))


def level_quotas(load: Load, given: list[list[Role]]) -> list[int | None]:
    """A closed level's requests, split over the workers by their seats of the stage's own load."""
    if not isinstance(load, ClosedLoop):
        return [None] * len(given)
    return quotas(load.requests, [sum(role.part == 0 for role in mine) for mine in given])
