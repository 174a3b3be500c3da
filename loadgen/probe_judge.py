"""When has a probe of a search shown enough, and what has it shown?"""

from dataclasses import dataclass

from loadgen.objectives import Objective
from loadgen.probe_results import LevelSeen
from search.binomial import Verdict
from search.probing import Bounds, ProbeResult, Tally, fails_confidence
from search.running import Rule, clear_at

LEAST_REQUESTS = 20
LEAST_OF_A_STREAM = 2  # on average, beside its first


@dataclass(frozen=True, slots=True)
class ProbeJudge:
    """One probe.  before: of earlier probes of the same load.

    An arrival process may be said to fail at any time but to hold only at the probe's end: a queue
    that grows is not long at first.  In closed loop nothing grows.  Neither is said of so few
    requests that they may all have met the same moment's trouble.
    """

    value: float
    asked: tuple[Objective, ...]
    bounds: Bounds
    before: tuple[Tally, ...]

    def is_clear(self, seen: LevelSeen) -> bool:
        """Whether nothing that may still come would change the verdict."""
        verdicts = [self._look(of, before, seen, False)[0] for of, before in self._each()]
        return "fails" in verdicts or (bool(verdicts) and set(verdicts) == {"holds"})

    def result(self, seen: LevelSeen) -> ProbeResult:
        """At the probe's end: a tally for each objective, of the requests that made it clear."""
        return ProbeResult(
            self.value,
            tuple(self._look(of, before, seen, True)[1] for of, before in self._each()),
        )

    def _each(self) -> list[tuple[Objective, Tally | None]]:
        before = self.before or (None,) * len(self.asked)
        return list(zip(self.asked, before, strict=True))

    def _look(
        self, of: Objective, before: Tally | None, seen: LevelSeen, is_over: bool
    ) -> tuple[Verdict, Tally]:
        missed, streams = seen.missed(of, is_over), seen.streams.get(of.traffic_class)
        n_before, misses_before = (before.n, before.misses) if before else (0, 0.0)
        sure = self.bounds.confidence
        rule = Rule(
            percentile=of.percentile,
            to_hold=sure,
            to_fail=fails_confidence(sure, len(self.asked)),
            least=n_before + max(LEAST_REQUESTS, LEAST_OF_A_STREAM * (streams or 0)),
            before=(n_before, misses_before),
        )
        look = clear_at(missed, rule)
        verdict, n = look.verdict, look.n
        if verdict == "holds" and streams is None:
            verdict, n = (verdict if is_over else "unclear"), len(missed)
        misses = sum(m for m in missed[:n] if m is not None)
        return verdict, Tally(of.label, of.percentile, n, misses)
