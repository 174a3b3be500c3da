"""Does a percentile hold?  Exact binomial bounds for requests that are counted once, at the end.

`percentile` of a metric holds at a limit if at most the share 1 - percentile/100 of all requests
lies over it.  Of n requests the number over it is binomial, whatever the metric's distribution.
Each bound is one-sided: a verdict is wrong with a probability of at most 1 - confidence.
Source: Clopper & Pearson, Biometrika 26 (1934) 404; Hahn & Meeker, Statistical Intervals, 6.2.
"""

import math
from typing import Literal

from scipy.special import betaincinv

Verdict = Literal["holds", "fails", "unclear"]


def allowed_share(percentile: float) -> float:
    """The share of requests that may lie over the limit: 0.05 for p95."""
    return (100 - percentile) / 100


def at_most(n: int, misses: int, confidence: float) -> float:
    """Upper bound of the true share of misses; 1 where all missed, or nothing was counted."""
    return 1.0 if misses >= n else float(betaincinv(misses + 1, n - misses, confidence))


def at_least(n: int, misses: int, confidence: float) -> float:
    """Lower bound of the true share of misses; 0 where none missed."""
    return 0.0 if misses <= 0 else float(betaincinv(misses, n - misses + 1, 1 - confidence))


def verdict(n: int, misses: int, percentile: float, confidence: float) -> Verdict:
    """What n requests, looked at once, say of a percentile; unclear: too few, or too near."""
    allowed = allowed_share(percentile)
    if n and at_most(n, misses, confidence) <= allowed:
        return "holds"
    return "fails" if n and at_least(n, misses, confidence) > allowed else "unclear"


def requests_needed(percentile: float, confidence: float) -> int:
    """The fewest requests that can show that a percentile holds: 59 for p95 at 95 %.

    All of them must lie within the limit; with one miss it takes more.
    """
    needed = math.log(1 - confidence) / math.log(1 - allowed_share(percentile))
    return math.ceil(needed - 1e-9)
