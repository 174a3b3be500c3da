"""What a dialect is made of: one tool's numbers for one load level, each beside ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storage.exchange.answers import Answers

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One number as the tool prints it, ours beside it, and why they differ or that they agree.

    name, unit: the tool's own.  theirs: None where the records cannot give it; `reason` says why.
    metric: the entry of METRICS meant by it; None: we have none of that meaning.  ours: as the Run
    page shows it, over the level's window, in `unit`.  ours_all: our definition over the requests
    that the tool counts; None where there is no such number.
    """

    name: str
    title: str
    stat: str  # mean, p50, …; "" for a number that is no statistic
    unit: str
    theirs: float | None
    metric: str | None
    ours: float | None
    ours_all: float | None
    reason: str


MAIN = frozenset(
    {"", "mean", "avg", "median", "quantiles_p50", "50.00_percentile", "p99", "percentiles.p99",
     "quantiles_p99", "99.00_percentile"}
)  # fmt: skip
"""Statistics that a reader sees first; "" is a number that is none."""


def main_lines(lines: Sequence[Json]) -> list[Json]:
    """The lines, as dicts, of mean, median and p99; a dialect has up to twenty of one number."""
    medians = {line["title"] for line in lines if line["stat"] == "median"}
    return [
        line
        for line in lines
        if line["stat"] in MAIN or (line["stat"] == "p50" and line["title"] not in medians)
    ]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a level's records alone do not tell.

    duration_s: the tool's own denominator where it told one; None: made of the records.
    slos_ms: limits on ttft, tpot and e2e.  ours: metrics of the level as `show --json` has them,
    {} for none.  window_s, window_n: the window they come from and the answers within it.
    is_foreign: the run was measured by another tool.  no_chunks: why single arrivals are missing.
    connect_ms: what one connection took before the run; None: not known.
    """

    duration_s: float | None = None
    slos_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    ours: Mapping[str, Json] = field(default_factory=dict[str, Json])
    window_s: float | None = None
    window_n: int | None = None
    is_foreign: bool = False
    no_chunks: str | None = None
    connect_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """One tool's way of counting.

    versions: those whose source was read.  per_token: the title of each number that a reader would
    call time per token, with the meaning it has there.  rule: its percentile rule in words.
    """

    title: str
    versions: str
    rule: str
    per_token: Mapping[str, str]
    numbers: Callable[[Answers, Facts], list[Line]]
