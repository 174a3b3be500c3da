"""What each request of a class draws: lengths, prefix group, turns, pauses, by its number alone.

Numbers are drawn in blocks, each block and column from a random stream of its own, so any request
can be had without those before it: every worker sees the same request i.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from loadgen.curves import NS, Floats, Ints
from loadgen.lengths import draw
from loadgen.lengths_file import read_lengths
from loadgen.plan_lengths import (
    ExponentialPause,
    FromFile,
    LogNormalPause,
    UniformPause,
    mean_of,
)
from loadgen.plan_workload import Workload

BLOCK = 4096  # turns of a block, about: conversations of many turns make smaller ones
KEPT_BLOCKS = 8
NO_GROUP = -1
COLUMNS = ("prompt_tokens", "output_tokens", "prefix", "group", "turns", "think", "pause")
# What random streams are for: the word after seed and level (replay.py has 1, 2 and 3).
ARRIVAL_STREAM, CLASS_STREAM, DRAW_STREAM = 11, 12, 13


class Drawn(NamedTuple):
    """One request.  think_ns: the pause before it, if it is not its conversation's first turn."""

    prompt_tokens: int
    output_tokens: int
    prefix_group: int | None
    think_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """n conversations (of one turn each, where the plan has none).

    begins: n + 1 rows, where each conversation's turns begin in the columns with a row per turn.
    pause_ns: before the conversation, for a user of closed loop.
    """

    begins: Ints
    prompt_tokens: Ints  # per turn
    output_tokens: Ints  # per turn
    think_ns: Ints  # per turn
    prefix_group: Ints  # per conversation; NO_GROUP: none
    pause_ns: Ints  # per conversation


class Draws:
    """The requests of one class in one level.

    key: seed, level, number of the class.  pause: the think time of its closed loop, 0 if none.
    file_turns: how many turns the conversations of these numbers have, None: as the plan draws.
    Raises PlanError if a file of lengths cannot be used.
    """

    def __init__(
        self,
        workload: Workload,
        key: tuple[int, int, int],
        pause: Any = 0,
        file_turns: Callable[[Ints], Ints | None] | None = None,
    ) -> None:
        seed, level, traffic = key
        self._workload = workload
        self._pause = pause
        self._key = [seed, level, DRAW_STREAM, traffic]
        talk = workload.conversation
        self._turns = 1 if talk is None else talk.turns
        self._file_turns = file_turns
        self._think = 0 if talk is None else talk.think_s
        for length in (workload.prompt_tokens, workload.output_tokens):
            measured(length)  # now, not when the first request of a block is due
        self.size = max(1, BLOCK // _mean(self._turns))
        self.block: Callable[[int], Block] = lru_cache(KEPT_BLOCKS)(self._draw)

    def request(self, index: int, turn: int = 0) -> Drawn:
        """Turn `turn` of conversation `index`."""
        number, row = divmod(index, self.size)
        block = self.block(number)
        at, group = int(block.begins[row]) + turn, int(block.prefix_group[row])
        return Drawn(
            int(block.prompt_tokens[at]),
            int(block.output_tokens[at]),
            None if group == NO_GROUP else group,
            int(block.think_ns[at]),
        )

    def turns(self, index: int) -> int:
        """How many turns conversation `index` has; 1 without conversations."""
        number, row = divmod(index, self.size)
        begins = self.block(number).begins
        return int(begins[row + 1] - begins[row])

    def turns_of(self, indices: Ints) -> Ints:
        """`turns` of many, in increasing order."""
        numbers, rows = np.divmod(indices, self.size)
        found = np.empty(len(indices), np.int64)
        for number in np.unique(numbers).tolist():
            mine = numbers == number
            found[mine] = np.diff(self.block(number).begins)[rows[mine]]
        return found

    def pause_ns(self, index: int) -> int:
        """How long a user of closed loop waits before it begins conversation `index`."""
        number, row = divmod(index, self.size)
        return int(self.block(number).pause_ns[row])

    def _draw(self, number: int) -> Block:
        work, prefix, n = self._workload, self._workload.prefix, self.size
        turns = None
        if self._file_turns is not None and work.conversation is not None:
            turns = self._file_turns(np.arange(number * n, (number + 1) * n))
        if turns is None:
            turns = self._lengths("turns", self._turns, number, n)
        begins = np.append(0, np.cumsum(turns))
        rows = int(begins[-1])
        group = np.full(n, NO_GROUP, np.int64)
        if prefix is not None:
            has_one = self._rng("prefix", number).random(n) < prefix.share
            which = self._rng("group", number).integers(0, prefix.groups, n)
            group = np.where(has_one, which, NO_GROUP)
        return Block(
            begins=begins,
            prompt_tokens=self._lengths("prompt_tokens", work.prompt_tokens, number, rows),
            output_tokens=self._lengths("output_tokens", work.output_tokens, number, rows),
            think_ns=_ns(pauses_s(self._think, self._rng("think", number), rows)),
            prefix_group=group,
            pause_ns=_ns(pauses_s(self._pause, self._rng("pause", number), n)),
        )

    def _lengths(self, column: str, length: Any, number: int, rows: int) -> Ints:
        return draw(length, self._rng(column, number), rows, measured(length))

    def _rng(self, column: str, number: int) -> np.random.Generator:
        return np.random.default_rng([*self._key, number, COLUMNS.index(column)])


def pauses_s(think: Any, rng: np.random.Generator, n: int) -> Floats:
    """`n` think times in seconds."""
    match think:
        case UniformPause():
            return rng.uniform(think.low, think.high, n)
        case ExponentialPause():
            return rng.exponential(think.mean, n)
        case LogNormalPause():
            return rng.lognormal(math.log(think.median), think.sigma, n)
        case _:
            return np.full(n, float(think))


def measured(length: Any) -> Ints | None:
    """The numbers of a length's file, read once per process; None if it needs no file."""
    return _read(length.path, length.column) if isinstance(length, FromFile) else None


_read = cache(read_lengths)


def _mean(length: Any) -> int:
    values = measured(length)
    return round(mean_of(length) or 1 if values is None else float(values.mean()))


def _ns(seconds: Floats) -> Ints:
    return np.rint(seconds * NS).astype(np.int64)
