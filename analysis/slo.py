"""Were the plan's objectives held?  Per level and objective: met, missed, or not enough data.

A run meets its objectives when each of its levels meets each of them; one miss is a miss.
Failures count as infinitely late.  Open loop: TTFT and E2E are judged from schedule.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from analysis.autocorrelation import effective_ns
from analysis.gaps import Gaps
from analysis.metrics import METRICS
from analysis.quantiles import Interval, intervals, is_thin, percentile, thin_below
from analysis.samples import Cohort, Samples, samples
from loadgen.plan import Slo

Result = Literal["met", "missed", "not enough data"]

FROM_SCHEDULE = {"ttft": "ttft_sched", "e2e": "e2e_sched"}


@dataclass(frozen=True, slots=True)
class SloResult:
    """One objective at one level.  sure: the whole 95 % interval lies on one side of the limit."""

    metric: str  # as judged: ttft_sched where an open loop is judged from schedule
    percentile: float
    max_ms: float
    result: Result
    value_ms: float | None  # None: no sample, or a failed request stands at this percentile
    sure: bool
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """As `show --json` writes it."""
        return {name: getattr(self, name) for name in self.__slots__}


def judge(slo: Slo, of: Cohort, gaps: Gaps, kind: str) -> SloResult:
    """One objective over the requests of a window.  kind: "open" or "closed" (the stage's)."""
    if slo.metric == "chunk_gap":
        return _say(slo, slo.metric, _judge_gaps(slo, of, gaps))
    name = judged_metric(slo, kind)
    return _say(slo, name, _judge_samples(slo, samples(name, of)))


def judged_metric(slo: Slo, kind: str) -> str:
    """The metric an objective is judged by: from schedule in open loop, where it exists."""
    return FROM_SCHEDULE.get(slo.metric, slo.metric) if kind == "open" else slo.metric


def worst_result(results: list[Result]) -> Result | None:
    """Of a whole run: missed if any is missed, met only if all are; None without objectives."""
    for result in ("missed", "not enough data"):
        if result in results:
            return result
    return "met" if results else None


class _Found(NamedTuple):
    result: Result
    value_ms: float | None
    why: str
    sure: bool = False


def _judge_samples(slo: Slo, found: Samples) -> _Found:
    values, p = found.with_failures, slo.percentile / 100
    value = percentile(values, p)
    # A failure has no place in the order of sending kept here; it is worth what an answer is.
    worth = effective_ns(found.values, [p])[0] / max(len(found.values), 1) * len(values)
    bounds = intervals(values, [p], [worth if len(found.values) else len(values)])[0]
    if value is None:
        return _Found("not enough data", None, "no request has a value")
    finite = value if np.isfinite(value) else None
    is_above = bounds.low is not None and bounds.low > slo.max_ms
    is_below = bounds.high is not None and bounds.high <= slo.max_ms
    if is_thin(len(values), p) and not is_above:
        why = f"{len(values)} requests cannot carry it, it needs {thin_below(p)}"
        return _Found("not enough data", finite, why)
    result: Result = "met" if value <= slo.max_ms else "missed"
    return _Found(result, finite, _why(finite, found, bounds), is_above or is_below)


def _judge_gaps(slo: Slo, of: Cohort, gaps: Gaps) -> _Found:
    """Failed requests have no gaps: a miss where more failed than the percentile allows."""
    p, asked = slo.percentile / 100, len(of.complete) + of.failed
    value = gaps.at(p)
    if of.failed > (1 - p) * asked:
        return _Found("missed", None, f"{of.failed:,} of {asked:,} requests failed")
    if value is None or is_thin(gaps.n, p):
        why = f"{gaps.n:,} gaps cannot carry it, it needs {thin_below(p)}"
        return _Found("not enough data", value, why)
    result: Result = "met" if value <= slo.max_ms else "missed"
    return _Found(result, value, f"it is {value:,.4g} ms of {gaps.n:,} gaps")


def _why(value: float | None, found: Samples, bounds: Interval) -> str:
    n = len(found.with_failures)
    if value is None:
        return f"{found.failed:,} of {n:,} requests failed, and a failure counts as never"
    low, high = bounds.as_list()
    to = f"to {high:,.0f} ms" if high is not None else "ms upwards"
    between = f"95 % interval {low:,.0f} {to}, " if low is not None else ""
    failed = f", {found.failed:,} failed" if found.failed else ""
    return f"it is {value:,.0f} ms ({between}{n:,} requests{failed})"


def _say(slo: Slo, name: str, found: _Found) -> SloResult:
    goal = f"{METRICS[name].title} p{slo.percentile:g} ≤ {slo.max_ms:,.10g} ms"
    return SloResult(
        metric=name,
        percentile=slo.percentile,
        max_ms=slo.max_ms,
        result=found.result,
        value_ms=found.value_ms,
        sure=found.sure,
        sentence=f"{goal}: {found.result}; {found.why}.",
    )
