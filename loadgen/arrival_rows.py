"""The arrivals of a level: one schedule of all its open parts, the same for any number of workers.

Rows come in blocks of columns; a stream of rows is increasing in due_ns from block to block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from loadgen.curves import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some arrivals; columns with one entry each.

    due_ns: from the level's begin.  traffic: which class.  index: the how manieth arrival of its
    class in this level, or the row of a replay.  turns: requests that come of it.
    """

    due_ns: Ints
    traffic: Ints
    index: Ints
    turns: Ints

    def __len__(self) -> int:
        return len(self.due_ns)

    def take(self, rows: slice | NDArray[np.bool_] | Ints) -> Self:
        """These rows, in this order."""
        columns = (self.due_ns, self.traffic, self.index, self.turns)
        return type(self)(*(column[rows] for column in columns))

    @classmethod
    def joined(cls, parts: "Sequence[Rows]") -> Self:
        """All rows of the parts, one part after the other."""
        names = ("due_ns", "traffic", "index", "turns")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class ClassDeal:
    """Deals arrivals to classes by their shares, and numbers them within each class.

    shares: any positive numbers; rng is not asked if there is only one class.
    """

    def __init__(
        self, classes: Sequence[int], shares: Sequence[float], rng: np.random.Generator
    ) -> None:
        self._classes = np.array(classes, np.int64)
        self._bounds = np.cumsum(shares) / sum(shares)
        self._rng = rng
        self._given = np.zeros(len(classes), np.int64)

    def deal(self, n: int) -> tuple[Ints, Ints]:
        """(class, number within the class) of the next `n` arrivals."""
        which = np.zeros(n, np.int64)
        if len(self._classes) > 1:
            which = np.searchsorted(self._bounds[:-1], self._rng.random(n), "right")
        index = np.empty(n, np.int64)
        for i in range(len(self._classes)):
            mine = which == i
            count = int(mine.sum())
            index[mine] = np.arange(self._given[i], self._given[i] + count)
            self._given[i] += count
        return self._classes[which], index


def first_requests(stream: Iterator[Rows], requests: int | None) -> Iterator[Rows]:
    """The stream up to so many requests (turns); the last conversation is cut short if need be."""
    left = requests
    for rows in stream:
        if left is None:
            yield rows
            continue
        upto = np.cumsum(rows.turns)
        n = int(np.searchsorted(upto, left)) + 1  # with the row that reaches it
        if n > len(rows):
            yield rows
            left -= int(upto[-1])
            continue
        kept = rows.take(slice(n))
        kept.turns[-1] -= int(upto[n - 1]) - left
        yield kept
        return


def merged(streams: Sequence[Iterator[Rows]], *, until_first_ends: bool) -> Iterator[Rows]:
    """All streams as one, in order of due_ns; at one instant the earlier stream's row comes first.

    until_first_ends: the others go no further than the first stream's last row.
    """
    waiting: list[Rows | None] = [None] * len(streams)
    while True:
        for i, stream in enumerate(streams):
            if waiting[i] is None or not len(waiting[i] or ()):
                waiting[i] = next(stream, None)
        if until_first_ends and waiting[0] is None:
            return
        there = [rows for rows in waiting if rows is not None]
        if not there:
            return
        # Nothing can come any more before the earliest of the last rows that are known.
        horizon = min(int(rows.due_ns[-1]) for rows in there)
        heads: list[Rows] = []
        for i, rows in enumerate(waiting):
            if rows is not None:
                n = int(np.searchsorted(rows.due_ns, horizon, "right"))
                heads.append(rows.take(slice(n)))
                waiting[i] = rows.take(slice(n, None))
        block = Rows.joined(heads)
        yield block.take(np.argsort(block.due_ns, kind="stable"))


def dealt(stream: Iterator[Rows], worker: int, n_workers: int) -> Iterator[Rows]:
    """Every n-th row of the stream, from the worker's number on."""
    begin = 0
    for rows in stream:
        yield rows.take(slice((worker - begin) % n_workers, None, n_workers))
        begin += len(rows)
