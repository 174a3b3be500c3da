"""The answer of a search in words and figures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from search.answer_words import Over, Wording
from search.probing import Bounds, Found, ProbeResult, Tried, pooled

End = Literal["between", "at_least", "none", "untold"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The largest load at which the objectives hold lies in [low, high).

    low: the largest that clearly holds; None: none does.  high: the smallest that clearly fails;
    None: none does.  What lies between could not be told, or is within the tolerance.
    """

    over: Over
    low: float | None
    high: float | None
    end: End
    sentence: str
    probes: tuple[Tried, ...]

    @property
    def value(self) -> float | None:
        """The load to quote: the largest that clearly holds."""
        return self.low

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"value": self.value, **asdict(self), "probes": [asdict(p) for p in self.probes]}


def answer_of(found: Sequence[ProbeResult], bounds: Bounds, over: Over) -> Answer:
    """What is known, at the end of a search or in its midst."""
    seen = Found(pooled(found, bounds.confidence))
    end, wording = _end(seen, bounds), Wording(over, bounds.confidence)
    said = [_opening(seen, end, wording), *_reasons(seen, wording)]
    if not seen.is_monotone:
        said.append(_not_monotone(seen, wording))
    return Answer(over, seen.holds_to, seen.fails_from, end, " ".join(said), seen.tried)


def _end(seen: Found, bounds: Bounds) -> End:
    if seen.holds_to is None:
        smallest = seen.tried[0] if seen.tried else None
        return "none" if smallest and smallest.verdict == "fails" else "untold"
    return "at_least" if seen.holds_to >= bounds.high else "between"


def _opening(seen: Found, end: End, wording: Wording) -> str:
    low, high = seen.holds_to, seen.fails_from
    if end == "none" and high is not None:
        return f"The objectives do not hold even at {wording.load(high)}, the least that was tried."
    if low is None:
        return "No load was found at which the objectives clearly hold."
    if end == "at_least":
        most = f"{wording.load(low)}, the most that was asked for"
        return f"The objectives hold at {most}: the limit is there or beyond."
    if high is None:
        return f"The objectives hold up to {wording.load(low)}; no load was seen to fail clearly."
    return f"The objectives hold up to {wording.load(low)} and fail at {wording.load(high)}."


def _reasons(seen: Found, wording: Wording) -> list[str]:
    """The load that holds, those that could not be told, the one that fails: a sentence each."""
    said: list[str] = []
    for tried in seen.tried:
        if tried.value == seen.holds_to:
            said.append(wording.held(tried))
        elif tried.value == seen.fails_from:
            said.append(wording.failed(tried))
        elif tried.verdict == "unclear":
            said.append(wording.cannot_tell(tried))
    return said


def _not_monotone(seen: Found, wording: Wording) -> str:
    failed = seen.fails_from or 0
    above = [wording.load(t.value) for t in seen.tried if t.verdict == "holds" and t.value > failed]
    return (
        f"But they also held at {', '.join(above)}, above a load at which they did not: the server "
        "does not simply become slower with more load, or something else disturbed it."
    )
