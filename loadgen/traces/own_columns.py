"""One's own trace: which columns a CSV or JSONL file of requests may have, under which names."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loadgen.traces.cells import (
    MILLISECONDS,
    SECONDS,
    Numbering,
    Unit,
    counts,
    dates_ns,
    is_date,
    texts,
    times,
)
from loadgen.traces.chunk import Chunk, Wanted, plain
from loadgen.traces.draft import Draft, Piece
from loadgen.traces.trace import Trace

IN_SECONDS = ("t_s", "time_s", "timestamp_s", "timestamp", "arrival_s")
IN_MILLISECONDS = ("t_ms", "time_ms", "timestamp_ms", "arrival_ms")
TOKENS = {
    "prompt_tokens": ("prompt_tokens", "input_tokens", "input_length", "context_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens", "output_length", "generated_tokens"),
}
_EITHER = Unit("dates in every row, or seconds", SECONDS.per_s)
OPTIONAL = {
    "prefix_group": ("prefix_group",),
    "session": ("conversation", "conversation_id", "session", "session_id"),
    "text": ("prompt", "text"),
}


def wanted_of(names: Iterable[str]) -> Wanted:
    """The columns to read from a file with these names: times in seconds, else in milliseconds."""
    have = set(map(plain, names))
    is_ms = have.isdisjoint(IN_SECONDS) and not have.isdisjoint(IN_MILLISECONDS)
    return Wanted({"at": IN_MILLISECONDS if is_ms else IN_SECONDS, **TOKENS}, OPTIONAL)


def own_trace(path: Path, format_: str, wanted: Wanted, chunks: Iterable[Chunk]) -> Trace:
    """The trace of one's own file, read as `chunks` of the `wanted` columns; raises TraceError.

    A first time that is a date makes all of them dates.
    """
    draft = Draft(path, format_)
    groups, sessions = Numbering(), Numbering()
    ticks_per_s, read_at = 0.0, dates_ns
    for chunk in chunks:
        if not ticks_per_s:
            ticks_per_s, read_at = _clock(wanted, chunk)
        has = chunk.columns.keys()
        draft.add(
            Piece(
                at=read_at(chunk, "at"),
                prompt_tokens=counts(chunk, "prompt_tokens"),
                output_tokens=counts(chunk, "output_tokens"),
                prefix_group=groups.of(chunk, "prefix_group") if "prefix_group" in has else None,
                session=sessions.of(chunk, "session") if "session" in has else None,
                text=texts(chunk, "text") if "text" in has else None,
            )
        )
    return draft.finish(ticks_per_s)


def _clock(
    wanted: Wanted, first: Chunk
) -> tuple[float, Callable[[Chunk, str], NDArray[np.float64] | NDArray[np.int64]]]:
    """Ticks per second of the file's times, and what reads them."""
    if wanted.required["at"] == IN_MILLISECONDS:
        return MILLISECONDS.per_s, partial(times, unit=MILLISECONDS)
    if is_date(first.columns["at"][0]):
        return 1e9, dates_ns
    return _EITHER.per_s, partial(times, unit=_EITHER)
