"""One load of a search as a sentence: the objective that decided, with its figures."""

from dataclasses import dataclass
from typing import Literal

from search.binomial import allowed_share
from search.probing import Tally, Tried, fails_confidence
from search.running import running_at_least, running_at_most, running_verdict

Over = Literal["concurrency", "rate_per_s"]


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentences of a search over streams or over a rate."""

    over: Over
    confidence: float

    def load(self, value: float) -> str:
        """The load with its unit."""
        if self.over == "rate_per_s":
            return f"{value:g} requests/s"
        return "1 stream" if value == 1 else f"{value:,.0f} streams"

    def held(self, tried: Tried) -> str:
        """Why a load holds: by the objective that is nearest to its limit."""
        worst = self._nearest(tried)
        most = percent(running_at_most(worst.n, worst.misses, self.confidence))
        return (
            f"At {self.load(tried.value)} {worst.label} held ({_over(worst)}, at most {most} with "
            f"{percent(self.confidence)} confidence, of {worst.n:,} requests)."
        )

    def failed(self, tried: Tried) -> str:
        """Why a load fails: by the first objective that does."""
        surer = fails_confidence(self.confidence, len(tried.tallies))
        worst = next(
            t
            for t in tried.tallies
            if running_verdict(t.n, t.misses, t.percentile, surer) == "fails"
        )
        least = percent(running_at_least(worst.n, worst.misses, surer))
        return (
            f"At {self.load(tried.value)} {worst.label} did not hold ({_over(worst)}, at least "
            f"{least}, of {worst.n:,} requests)."
        )

    def cannot_tell(self, tried: Tried) -> str:
        """Why a load is not clear."""
        worst = self._nearest(tried)
        if not worst.n:
            return f"At {self.load(tried.value)} no request could be judged."
        least = running_at_least(worst.n, worst.misses, self.confidence)
        most = running_at_most(worst.n, worst.misses, self.confidence)
        return (
            f"At {self.load(tried.value)} it cannot be told whether {worst.label} holds "
            f"({_over(worst)}, truly {percent(least)} to {percent(most)}, of {worst.n:,} requests; "
            f"{percent(allowed_share(worst.percentile))} may be)."
        )

    def _nearest(self, tried: Tried) -> Tally:
        def used(tally: Tally) -> float:
            most = running_at_most(tally.n, tally.misses, self.confidence)
            return most / allowed_share(tally.percentile)

        return max(tried.tallies, key=used)


def percent(share: float) -> str:
    """Three digits: 4.38 %."""
    return f"{100 * share:.3g} %"


def _over(tally: Tally) -> str:
    return f"{percent(tally.misses / tally.n)} over it"
