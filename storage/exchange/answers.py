"""A run's requests as columns of seconds: what an importer reads and a dialect computes with.

Seconds stay the floats that a file holds, so that a tool's own summary can be recomputed to the
last digit; the tables' microseconds are made of them later.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.records import TokenSource

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SPANS = ("start_s", "due_s", "first_chunk_s", "ttft_s", "visible_s", "last_s", "end_s")
COUNTS = ("prompt_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True, slots=True)
class Answers:
    """n requests in the file's order; every column has n entries, NaN is "not told".

    Spans (`*_s` but start and due) count in seconds from the request's own send.  A failed request
    has an outcome of storage.records.OUTCOMES other than `complete`.
    """

    outcome: list[str]
    start_s: Floats  # send, seconds from the run's first send; all NaN: the format has no times
    due_s: Floats  # the schedule's instant on the same line; NaN: nothing was due
    first_chunk_s: Floats  # any event of the answer, a role-only one included
    ttft_s: Floats  # first reasoning, content or tool token; as the tool tells it
    visible_s: Floats  # first token that is no reasoning
    last_s: Floats  # last token
    end_s: Floats  # the stream was closed
    prompt_tokens: Floats  # these three as the tool counts them in its own figures
    output_tokens: Floats  # reasoning included
    reasoning_tokens: Floats
    chunk_of: Ints  # m chunks, by request and then by time: the request's index
    chunk_s: Floats  # m: arrival from the request's send; m = 0 and n > 0: no per-chunk times
    chunk_tokens: Floats  # m: tokens in it
    phase: list[str] = field(default_factory=list[str])  # empty: all measured; else measure, warmup
    detail: list[str | None] = field(default_factory=list[str | None])  # empty: nothing was said
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """What only this tool knows and its own dialect needs, by the tool's own names."""
    token_source: TokenSource | None = None  # who counted output_tokens; None: not told
    request_ids: list[str] = field(default_factory=list[str])  # the tool's own; empty: not told
    more: dict[str, Floats] = field(default_factory=dict[str, Floats])
    """Columns of the tables that only some formats fill: usage_prompt_tokens and
    usage_output_tokens (the server's counts, where output_tokens is the tool's own), cached_tokens,
    queue_s (waited at the client before send), dns_s, connect_s, conn_reused (0, 1), turn,
    n_chunks (how many there were, where their times are not told)."""

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def has_times(self) -> bool:
        """Whether it is known when requests were sent, not only how long each took."""
        return bool(len(self) and not np.isnan(self.start_s).all())

    @property
    def has_chunks(self) -> bool:
        """Whether single chunks have arrival times."""
        return len(self.chunk_s) > 0


def answers(outcome: list[str], **known: Any) -> Answers:
    """Answers of which `known` columns are told, and no other."""
    columns: dict[str, Any] = {"chunk_of": np.empty(0, np.int64), "chunk_s": np.empty(0)}
    columns |= {name: np.full(len(outcome), np.nan) for name in (*SPANS, *COUNTS)}
    columns["chunk_tokens"] = np.full(len(known.get("chunk_s", ())), np.nan)
    return Answers(outcome, **(columns | known))


@dataclass(frozen=True, slots=True)
class ForeignLevel:
    """One benchmark of a foreign file: one load level of the run made of it."""

    name: str  # "c=16", "5/s", "as fast as possible"
    kind: str  # closed, open
    concurrency: int | None
    rate_per_s: float | None
    answers: Answers
    duration_s: float | None  # as the tool told or used it; None: not told, and not to be had
    reported: dict[str, float]
    """The tool's own summary by its own names, flat, numbers only, in the file's own units."""


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """A foreign result file, read.  Nothing in it is invented: what a format lacks is `lacks`."""

    tool: str  # key of IMPORTERS: vllm_bench, guidellm, aiperf, sglang, llmperf, inference_perf
    version: str | None  # of the tool or its schema, where the file tells
    name: str
    model: str | None
    url: str | None
    started_epoch_s: float | None  # wall clock at the run's first send; None: not told
    levels: list[ForeignLevel]
    lacks: list[str]  # sentences: "No start times: there is no time line and no concurrency."
    notes: list[str]  # sentences a reader should know: what was odd in the file
    reported: dict[str, float] = field(default_factory=dict[str, float])
    """The tool's own summary of the whole run, where it has one beside those of the levels."""
