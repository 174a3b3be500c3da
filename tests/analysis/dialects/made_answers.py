"""Answers by hand and by chance: rows of plain Python, and the columns made of them."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from storage.exchange.answers import Answers, answers


@dataclass
class Row:
    """One request.  chunks: (seconds from send, tokens or None, whether it is reasoning)."""

    start: float = 0.0
    chunks: list[tuple[float, int | None, bool]] = field(default_factory=list)
    tokens: int | None = None
    prompt: int = 10
    close: float = 0.0  # end of the stream after the last chunk
    due: float | None = None
    outcome: str = "complete"
    first_event: float | None = None  # of any kind

    @property
    def first(self) -> float | None:
        return self.chunks[0][0] if self.chunks else None

    @property
    def visible(self) -> float | None:
        return next((at for at, _, thinks in self.chunks if not thinks), None)

    @property
    def last(self) -> float | None:
        return self.chunks[-1][0] if self.chunks else None

    @property
    def end(self) -> float | None:
        return self.chunks[-1][0] + self.close if self.chunks else self.close

    @property
    def gaps(self) -> list[float]:
        return [b[0] - a[0] for a, b in pairwise(self.chunks)]


def columns(rows: list[Row]) -> Answers:
    """The rows as an importer would hand them on."""

    def column(values):
        return np.array([math.nan if value is None else value for value in values], dtype=float)

    flat = [(i, *chunk) for i, row in enumerate(rows) for chunk in row.chunks]
    return answers(
        [row.outcome for row in rows],
        start_s=column([row.start for row in rows]),
        due_s=column([row.due for row in rows]),
        first_chunk_s=column([row.first_event for row in rows]),
        ttft_s=column([row.first for row in rows]),
        visible_s=column([row.visible for row in rows]),
        last_s=column([row.last for row in rows]),
        end_s=column([row.end for row in rows]),
        prompt_tokens=column([row.prompt for row in rows]),
        output_tokens=column([row.tokens for row in rows]),
        chunk_of=np.array([one[0] for one in flat], dtype=np.int64),
        chunk_s=np.array([one[1] for one in flat], dtype=float),
        chunk_tokens=column([one[2] for one in flat]),
    )


MS = st.integers(1, 400).map(lambda n: n / 1000)


@st.composite
def rows_by_chance(draw) -> list[Row]:
    """1 to 10 requests, one answered at least: one token, several a chunk, thinking, failures."""
    is_open = draw(st.booleans())
    found = [_row(draw, is_open) for _ in range(draw(st.integers(1, 10)))]
    if all(row.outcome != "complete" for row in found):
        found[0].outcome = "complete"
    return found


def _row(draw, is_open: bool) -> Row:
    n_chunks, start = draw(st.integers(1, 6)), draw(st.integers(0, 5000)) / 1000
    told = draw(st.booleans())
    counts = [draw(st.integers(1, 3)) if told else None for _ in range(n_chunks)]
    thinks = draw(st.integers(0, n_chunks - 1))
    at, chunks = draw(MS), []
    for k, count in enumerate(counts):
        chunks.append((at, count, k < thinks))
        at += draw(MS)
    total = sum(count for count in counts if count) if told else draw(st.integers(1, 12))
    return Row(
        start=start,
        chunks=chunks,
        tokens=total,
        prompt=draw(st.integers(1, 50)),
        close=draw(MS),
        due=start - draw(MS) if is_open else None,
        outcome=draw(st.sampled_from(["complete", "complete", "complete", "timeout"])),
        first_event=chunks[0][0] / 2 if draw(st.booleans()) else None,
    )
