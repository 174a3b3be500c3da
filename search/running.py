"""The same question while the requests come in: bounds that hold however often one looks.

A bound made for one look is broken sooner or later by somebody who looks each half second and stops
at the first clear answer: within 600 requests, a p95 that just does not hold would be said to hold
in 20 % of the cases instead of 5 %.  So a running level is judged by a confidence sequence, which
is right at all numbers of requests at once:

    E(n, k; s) = ∫ (q/s)^k ((1-q)/(1-s))^(n-k) dπ(q)

is the mean likelihood ratio of miss shares q below s against s itself, π being Beta(½, ½) cut off
at s.  If the true share is s or more, E is a supermartingale that begins at 1, so it ever reaches
1/(1 - confidence) with a probability of at most 1 - confidence (Ville).  Shares above s: alike.
Misses may be fractions in [0, 1], for a factor is convex in them and so below its chord.
Source: Robbins, Ann. Math. Stat. 41 (1970) 1397; Howard et al., Ann. Stat. 49 (2021) 1055.
docs/search.md has the numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

from search.binomial import Verdict, allowed_share

Reals = NDArray[np.float64]
PRIOR = 0.5  # of both sides: as good for shares near 0 as for shares near the limit
_HALVINGS = 40  # of the interval of a bound: 1e-12


@dataclass(frozen=True, slots=True)
class Rule:
    """When one objective of a level is clear."""

    percentile: float
    to_hold: float  # confidence of saying so, as is to_fail
    to_fail: float
    least: int = 1  # of fewer requests nothing is said
    before: tuple[int, float] = (0, 0.0)  # requests and misses of an earlier try


@dataclass(frozen=True, slots=True)
class Look:
    """A verdict and the number of requests it is of."""

    verdict: Verdict
    n: int


def running_verdict(n: int, misses: float, percentile: float, confidence: float) -> Verdict:
    """What the first n requests say, however often it was asked before."""
    if not n:
        return "unclear"
    holds, fails = _crossings(_real(n), _real(misses), percentile, (confidence, confidence))
    return "holds" if holds[0] else "fails" if fails[0] else "unclear"


def running_at_most(n: int, misses: float, confidence: float) -> float:
    """Upper bound of the true share of misses, valid at all n at once; 1 where nothing is known."""
    if misses >= n:
        return 1.0
    low, high = misses / n, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        if _log_below(_real(n), _real(misses), share)[0] < -np.log1p(-confidence):
            low = share
        else:
            high = share
    return high


def running_at_least(n: int, misses: float, confidence: float) -> float:
    """Lower bound of the true share of misses, valid at all n at once; 0 where nothing is known."""
    if misses <= 0 or not n:
        return 0.0
    return 1 - running_at_most(n, n - misses, confidence)  # a share of misses below is one of hits


def clear_at(missed: Sequence[float | None], rule: Rule) -> Look:
    """The first number of requests at which a level was clear, or all of them and "unclear".

    missed: each request in the order in which they began, 1 = over the limit; None: not known yet,
    which counts as a miss when asked whether it holds and as none when asked whether it fails.
    """
    skipped = max(rule.least - rule.before[0], 1) - 1
    if len(missed) <= skipped:
        return Look("unclear", len(missed))
    n = np.arange(1, len(missed) + 1, dtype=np.float64)
    at_worst = np.cumsum([1.0 if m is None else m for m in missed])
    at_best = np.cumsum([0.0 if m is None else m for m in missed])
    n, at_worst, at_best = (
        counted[skipped:] + before
        for counted, before in zip(
            (n, at_worst, at_best), (*rule.before, rule.before[1]), strict=True
        )
    )
    sure = (rule.to_hold, rule.to_fail)
    holds = _crossings(n, at_worst, rule.percentile, sure)[0]
    fails = _crossings(n, at_best, rule.percentile, sure)[1]
    clear = holds | fails
    if not clear.any():
        return Look("unclear", len(missed))
    first = int(clear.argmax())
    return Look("fails" if fails[first] else "holds", skipped + first + 1)


def running_needed(percentile: float, confidence: float) -> int:
    """The fewest requests, all within the limit, after which a look says holds: 74 for p95."""
    n = 1
    while running_verdict(n, 0, percentile, confidence) != "holds":
        n += 1
    return n


def _crossings(
    n: Reals, misses: Reals, percentile: float, confidences: tuple[float, float]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    allowed = allowed_share(percentile)
    below, above = _log_below(n, misses, allowed), _log_below(n, n - misses, 1 - allowed)
    return below >= -np.log1p(-confidences[0]), above >= -np.log1p(-confidences[1])


def _log_below(n: Reals, misses: Reals, share: float) -> Reals:
    """ln E of shares below `share`, against it."""
    a, b = misses + PRIOR, n - misses + PRIOR
    with np.errstate(divide="ignore"):  # ln 0: no share below explains so many misses
        mass = betaln(a, b) + np.log(betainc(a, b, share))
        whole = betaln(PRIOR, PRIOR) + np.log(betainc(PRIOR, PRIOR, share))
        return mass - whole - misses * np.log(share) - (n - misses) * np.log1p(-share)


def _real(value: float) -> Reals:
    return np.array([value], dtype=np.float64)
