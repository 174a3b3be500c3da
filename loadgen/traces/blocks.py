"""Prefix blocks: runs of 512 prompt tokens that requests with equal ids have in common.

Mooncake's traces give each request the ids of its prompt's blocks.  An id stands for the block and
all before it, so two requests share exactly the leading blocks whose ids are equal.
Source: Qin et al., Mooncake, FAST 2025, section 3; its trace format.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

BLOCK_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Blocks:
    """Each row's block ids, laid end to end: row i has ids[offsets[i]:offsets[i + 1]]."""

    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, row: int) -> tuple[int, ...]:
        """The block ids of one row, from its prompt's begin on."""
        return tuple(self.ids[self.offsets[row] : self.offsets[row + 1]].tolist())

    def take(self, rows: NDArray[np.int64]) -> "Blocks":
        """The blocks of `rows`, in that order; a row may be taken several times."""
        lengths = np.diff(self.offsets)[rows]
        offsets = _offsets(lengths)
        shift = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Blocks(self.ids[shift + np.arange(len(shift))], offsets)


def blocks_of(lists: Sequence[Sequence[int]]) -> Blocks:
    """One row of `Blocks` for each list of ids; a row may be empty."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    ids = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum()))
    return Blocks(ids, _offsets(lengths))


def joined(parts: Sequence[Blocks]) -> Blocks:
    """The rows of all parts, one part after the other."""
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return Blocks(np.concatenate([part.ids for part in parts]), _offsets(lengths))


def renumbered(blocks: Blocks) -> Blocks:
    """The same sharing with ids 0, 1, … in the order of the old ones: fit to be indices."""
    ids = blocks.ids
    if len(ids) and int(ids.max()) < 4 * len(ids):  # a table is faster and smaller than sorting
        is_there = np.zeros(int(ids.max()) + 1, np.bool_)
        is_there[ids] = True
        return Blocks((np.cumsum(is_there) - 1)[ids], blocks.offsets)
    _, numbers = np.unique(ids, return_inverse=True)
    return Blocks(numbers.astype(np.int64), blocks.offsets)


@dataclass(frozen=True, slots=True)
class BlocksPrompt:
    """A prompt as pieces: (block id, tokens of it from its begin), then tokens all its own."""

    pieces: tuple[tuple[int, int], ...]
    rest_tokens: int


def blocks_prompt(hash_ids: Sequence[int], input_length: int) -> BlocksPrompt:
    """How a prompt of `input_length` tokens is built from its blocks.

    Every piece has 512 tokens but the last, which ends with the prompt.  Tokens beyond the last
    block are the rest, unlike any other request's; ids beyond the prompt's end are left out.
    """
    pieces: list[tuple[int, int]] = []
    left = input_length
    for block in hash_ids:
        if left <= 0:
            break
        pieces.append((block, min(left, BLOCK_TOKENS)))
        left -= BLOCK_TOKENS
    return BlocksPrompt(tuple(pieces), max(left, 0))


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
