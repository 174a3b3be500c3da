"""Mooncake's traces: JSONL with timestamp (ms), input_length, output_length, hash_ids.

hash_ids are the prompt's 512-token blocks (see blocks.py); a file may lack them.
Source: Qin et al., Mooncake, FAST 2025; the traces of its release.
"""

from itertools import chain
from pathlib import Path
from typing import Any

from loadgen.traces.blocks import Blocks, blocks_of
from loadgen.traces.cells import MILLISECONDS, counts, times
from loadgen.traces.chunk import Chunk, Wanted
from loadgen.traces.draft import Draft, Piece
from loadgen.traces.json_rows import json_chunks
from loadgen.traces.trace import Trace

WANTED = Wanted(
    required={
        "at": ("timestamp",),
        "prompt_tokens": ("input_length",),
        "output_tokens": ("output_length",),
    },
    optional={"hash_ids": ("hash_ids",)},
)


def read(path: Path) -> Trace:
    """The trace of a Mooncake JSONL file; raises TraceError."""
    draft = Draft(path, "mooncake")
    for chunk in json_chunks(path, WANTED):
        draft.add(
            Piece(
                at=times(chunk, "at", MILLISECONDS),
                prompt_tokens=counts(chunk, "prompt_tokens"),
                output_tokens=counts(chunk, "output_tokens"),
                prefix_ids=_blocks(chunk) if "hash_ids" in chunk.columns else None,
            )
        )
    return draft.finish(ticks_per_s=MILLISECONDS.per_s)


def _blocks(chunk: Chunk) -> Blocks:
    lists: list[Any] = [[] if cell is None else cell for cell in chunk.columns["hash_ids"]]
    if not _are_ids(lists):
        row = next(i for i, cell in enumerate(lists) if not _are_ids([cell]))
        raise chunk.error(row, "hash_ids", "a list of whole numbers from 0 to 2^63 - 1")
    return blocks_of(lists)


def _are_ids(lists: list[Any]) -> bool:
    if set(map(type, lists)) - {list}:
        return False
    ids = list(chain.from_iterable(lists))
    return not ids or (set(map(type, ids)) == {int} and min(ids) >= 0 and max(ids) < 2**63)
