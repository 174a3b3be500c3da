"""The search: bracket by doubling, then bisect.  A pure function of what was found so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from search.binomial import Verdict
from search.running import running_verdict

MOST_TIMES = 3  # a load that is not clear is tried so often, its requests counted together


@dataclass(frozen=True, slots=True)
class Tally:
    """Requests judged by one objective.  misses: fractions where a request is late in part."""

    label: str  # "TTFT p95 ≤ 400 ms"
    percentile: float
    n: int
    misses: float


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one level showed: a tally for each objective, always in the same order."""

    value: float
    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where is searched, and how sure one has to be."""

    low: float
    high: float
    is_whole: bool = True  # streams; else a rate
    tolerance: float = 0.1  # of the answer
    confidence: float = 0.95  # of each verdict
    most_requests: int | None = None  # at one load
    hint: float | None = None  # begin here instead of at low


@dataclass(frozen=True, slots=True)
class Probe:
    """The load to measure next, and why."""

    value: float
    why: str
    most_requests: int | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """One load with all its probes counted together."""

    value: float
    tallies: tuple[Tally, ...]
    times: int
    verdict: Verdict

    @property
    def counted(self) -> int:
        """Requests of the objective that has most."""
        return max((t.n for t in self.tallies), default=0)


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a search: every load tried, smallest first."""

    tried: tuple[Tried, ...]

    @property
    def fails_from(self) -> float | None:
        """The smallest load that clearly fails."""
        return min((t.value for t in self.tried if t.verdict == "fails"), default=None)

    @property
    def holds_to(self) -> float | None:
        """The largest load that clearly holds below all that fail; what is unclear below it holds
        too, for the load is less."""
        limit = math.inf if self.fails_from is None else self.fails_from
        holding = [t.value for t in self.tried if t.verdict == "holds" and t.value < limit]
        return max(holding, default=None)

    @property
    def is_monotone(self) -> bool:
        """Whether no load holds above one that fails."""
        failed = math.inf if self.fails_from is None else self.fails_from
        return all(t.value < failed for t in self.tried if t.verdict == "holds")


def next_probe(found: Sequence[ProbeResult], bounds: Bounds) -> Probe | Found:
    """What to measure next, or that nothing more is to be measured."""
    tried = pooled(found, bounds.confidence)
    if found and (again := _again(tried, found[-1].value, bounds)):
        return again
    if not tried:
        start = bounds.low if bounds.hint is None else bounds.hint
        return _probe(min(max(start, bounds.low), bounds.high), "the first", bounds)
    return _bracket(tried, bounds) or _bisect(tried, bounds) or Found(tried)


def pooled(found: Sequence[ProbeResult], confidence: float) -> tuple[Tried, ...]:
    """The loads tried, smallest first, those tried again counted together."""
    by_value = groupby(sorted(found, key=lambda probe: probe.value), key=lambda probe: probe.value)
    return tuple(_together(value, list(probes), confidence) for value, probes in by_value)


def fails_confidence(confidence: float, n_objectives: int) -> float:
    """What one of several objectives must be sure of, so that calling the load a failure is right.

    One miss is enough to fail, so each of n may be wrong in an n-th of the cases only.  To hold,
    all of them must, and the least sure one decides: nothing is shared there.
    """
    return 1 - (1 - confidence) / max(n_objectives, 1)


def verdict_of(tallies: Sequence[Tally], confidence: float) -> Verdict:
    """Of a load: holds if each objective does, fails if one does."""
    surer = fails_confidence(confidence, len(tallies))
    if any(running_verdict(t.n, t.misses, t.percentile, surer) == "fails" for t in tallies):
        return "fails"
    held = [running_verdict(t.n, t.misses, t.percentile, confidence) == "holds" for t in tallies]
    return "holds" if held and all(held) else "unclear"


def _together(value: float, probes: list[ProbeResult], confidence: float) -> Tried:
    columns = zip(*(probe.tallies for probe in probes), strict=True)
    tallies = tuple(
        Tally(
            same[0].label, same[0].percentile, sum(t.n for t in same), sum(t.misses for t in same)
        )
        for same in columns
    )
    return Tried(value, tallies, len(probes), verdict_of(tallies, confidence))


def _again(tried: Sequence[Tried], value: float, bounds: Bounds) -> Probe | None:
    """The last load once more, if more requests of the same kind would make it clear."""
    last = next(t for t in tried if t.value == value)
    counted = last.counted
    most = math.inf if bounds.most_requests is None else bounds.most_requests
    if last.verdict != "unclear" or last.times >= MOST_TIMES or not 0 < counted < most:
        return None
    growth = min(MOST_TIMES / last.times, most / counted)
    then = [
        Tally(t.label, t.percentile, int(t.n * growth), t.misses * growth) for t in last.tallies
    ]
    if verdict_of(then, bounds.confidence) == "unclear":
        return None
    left = None if bounds.most_requests is None else bounds.most_requests - counted
    return Probe(value, "the same once more, for it was not clear", left)


def _bracket(tried: Sequence[Tried], bounds: Bounds) -> Probe | None:
    """Half of the smallest load while none holds, twice the largest while none fails."""
    smallest, largest, verdicts = tried[0], tried[-1], {t.verdict for t in tried}
    if "fails" not in verdicts and largest.value < bounds.high and largest.counted:
        said = "that held" if largest.verdict == "holds" else "that was not clear"
        return _probe(
            min(bounds.high, 2 * largest.value), f"up from the {largest.value:g} {said}", bounds
        )
    if "holds" not in verdicts and smallest.value > bounds.low:
        down = max(bounds.low, _rounded(smallest.value / 2, bounds))
        return _probe(down, f"half of the {smallest.value:g} that did not hold", bounds)
    return None


def _bisect(tried: Sequence[Tried], bounds: Bounds) -> Probe | None:
    """The middle between what holds and what does not, while they are further apart than asked."""
    low = Found(tuple(tried)).holds_to
    above = [t.value for t in tried if low is not None and t.value > low]
    if low is None or not above:
        return None
    high = min(above)  # none above it holds that counts
    apart = bounds.tolerance * low
    middle = _rounded((low + high) / 2, bounds)
    if high - low <= (max(1, apart) if bounds.is_whole else apart) or not low < middle < high:
        return None
    return _probe(middle, f"between the {low:g} that held and the {high:g} that did not", bounds)


def _probe(value: float, why: str, bounds: Bounds) -> Probe:
    return Probe(value, why, bounds.most_requests)


def _rounded(value: float, bounds: Bounds) -> float:
    """A whole number, or four digits: a rate is also a name on an axis."""
    return float(math.floor(value)) if bounds.is_whole else float(f"{value:.4g}")
