"""The one value every trace file becomes, and the error of a file that cannot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgen.traces.blocks import Blocks

NONE = -1  # in `session` and `prefix_group`: this row has none


class TraceError(ValueError):
    """The trace's owner must change something: one sentence with the file and, if any, the line."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Requests in the order they came.  All columns have one entry per request.

    t_s: seconds from the first request, never decreasing.  Token counts are at least 1.
    prefix_ids: Mooncake's blocks, renumbered from 0.  prefix_group, session: numbers from 0 in the
    order of first appearance, `NONE` for a row without one.  text: "" for a row without a prompt.
    A column is None where the file has no such thing.
    """

    source: str
    format: str
    t_s: NDArray[np.float64]
    prompt_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    prefix_ids: Blocks | None = None
    prefix_group: NDArray[np.int64] | None = None
    session: NDArray[np.int64] | None = None
    text: list[str] | None = None
    notes: tuple[str, ...] = ()  # what was left out or put in order while reading

    def __len__(self) -> int:
        return len(self.t_s)

    @property
    def lasts_s(self) -> float:
        """Seconds from the first request to the last."""
        return float(self.t_s[-1])
