"""(plan, level) -> every arrival and what requests draw: the same for any number of workers."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from loadgen.arrival_rows import ClassDeal, Rows, first_requests, merged
from loadgen.arrivals import ARRIVALS, due_ns
from loadgen.curves import Ints
from loadgen.draws import ARRIVAL_STREAM, CLASS_STREAM, Drawn, Draws
from loadgen.plan import ClosedLoop, Load, OpenLoop, Plan, Replay
from loadgen.planned import Visit
from loadgen.prompts.material import Material
from loadgen.replay import Replayed, replayed
from loadgen.seats import LoadPart, parts
from loadgen.shapes import curve
from loadgen.traces.blocks import blocks_prompt
from loadgen.traces.registry import read_trace
from loadgen.traces.trace import NONE


class Talk(NamedTuple):
    """Which turn of which conversation a request is."""

    conversation: int
    turn: int


class Traced(NamedTuple):
    """A row of a trace.  text: its own prompt, "" if it has none; blocks: (id, tokens) of each."""

    text: str
    row: int
    blocks: tuple[tuple[int, int], ...]


class LevelSchedule:
    """One level.  Raises PlanError or TraceError (both ValueError) if a file cannot be used.

    material: knows how many turns a file's conversations have; without it they are as drawn.
    """

    def __init__(
        self, plan: Plan, stage: int, load: Load, material: Material | None = None
    ) -> None:
        self._seed = (plan.seed, stage)
        self._load = load
        self.parts = parts(plan, load)
        traffic = plan.traffic()
        self._talks = [one.workload.conversation is not None for one in traffic]
        self._draws = {
            k: Draws(
                traffic[k].workload,
                (plan.seed, stage, k),
                _pause(part.load),
                partial(material.turns, stage, k) if material else None,
            )
            for part in self.parts
            for k in part.classes
        }
        self.replay: Replayed | None = None
        self._of_replay: frozenset[int] = frozenset()
        if isinstance(load, Replay):
            self.replay = replayed(read_trace(Path(load.file), load.format), load, self._seed)
            self._of_replay = frozenset(self.parts[0].classes)
            self._turn = _turns(self.replay.session)

    def rows(self) -> Iterator[Rows]:
        """Every arrival of the level's open parts, in order."""
        streams = [self._part_rows(part) for part in self.parts if part.is_open]
        main = self.parts[0] if self.parts and not self.parts[0].is_own else None
        ends = main is not None and main.is_open and self._load.seconds is None
        return merged(streams, until_first_ends=ends)

    def drawn(self, traffic: int, index: int, turn: int = 0) -> Drawn:
        """What the turn of a visit asks for."""
        if self.replay is None or traffic not in self._of_replay:
            return self._draws[traffic].request(index, turn)
        group = None if self.replay.prefix_group is None else self.replay.prefix_group[index]
        return Drawn(
            int(self.replay.prompt_tokens[index]),
            int(self.replay.output_tokens[index]),
            None if group is None or group == NONE else int(group),
            0,
        )

    def traced(self, traffic: int, index: int) -> Traced | None:
        """What a trace says of a request's prompt; None if the request is none of a trace."""
        if self.replay is None or traffic not in self._of_replay:
            return None
        text = self.replay.text[index] if self.replay.text else ""
        tokens = int(self.replay.prompt_tokens[index])
        ids = self.replay.prefix_ids.of(index) if self.replay.prefix_ids else ()
        return Traced(text, int(self.replay.row[index]), blocks_prompt(ids, tokens).pieces)

    def talk(self, traffic: int, index: int, turn: int) -> Talk | None:
        """The conversation of a request; None if it belongs to none."""
        if self.replay is None or traffic not in self._of_replay:
            return Talk(index, turn) if self._talks[traffic] else None
        session = NONE if self.replay.session is None else int(self.replay.session[index])
        return None if session == NONE else Talk(session, int(self._turn[index]))

    def visit(self, traffic: int, index: int) -> Visit:
        """One visit of a user of closed loop."""
        draws = self._draws[traffic]
        return Visit(traffic, index, draws.turns(index), None, draws.pause_ns(index))

    def _part_rows(self, part: LoadPart) -> Iterator[Rows]:
        load = part.load
        # Never 0: numpy takes seeds that differ by zeros at their end only for equal.
        key = 2 + part.classes[0] if part.is_own else 1
        class_rng = np.random.default_rng([*self._seed, CLASS_STREAM, key])
        deal = ClassDeal(part.classes, part.shares, class_rng)
        if self.replay is not None and not part.is_own:
            n = len(self.replay)
            which, _ = deal.deal(n)
            rows = Rows(self.replay.due_ns, which, np.arange(n), np.ones(n, np.int64))
            yield from first_requests(iter([rows]), load.requests)
            return
        assert isinstance(load, OpenLoop)
        rng = np.random.default_rng([*self._seed, ARRIVAL_STREAM, key])
        made = ARRIVALS[load.arrivals](rng, load.burstiness)
        due = due_ns(made, curve(load.rate_per_s, load.seconds), load.requests)
        yield from first_requests((self._row_block(deal, block) for block in due), load.requests)

    def _row_block(self, deal: ClassDeal, due: Ints) -> Rows:
        which, index = deal.deal(len(due))
        turns = np.ones(len(due), np.int64)
        for k in np.unique(which).tolist():
            if self._talks[k]:
                mine = which == k
                turns[mine] = self._draws[k].turns_of(index[mine])
        return Rows(due, which, index, turns)


def _pause(load: Load) -> object:
    return load.think_s if isinstance(load, ClosedLoop) else 0


def _turns(session: Ints | None) -> Ints:
    """For each row how many rows of its session came before it."""
    if session is None:
        return np.zeros(0, np.int64)
    order = np.argsort(session, kind="stable")
    in_order = session[order]
    begins = np.searchsorted(in_order, in_order)
    turn = np.empty(len(session), np.int64)
    turn[order] = np.arange(len(session)) - begins
    return turn
