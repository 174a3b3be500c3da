"""Percentiles, and how sure a percentile of n samples can be.

Percentile rule: linear interpolation (numpy's default, DuckDB's quantile_cont), named in the pages.
Interval: exact binomial order statistics, free of any assumption on the distribution.  Samples that
depend on each other count as fewer: n_eff of analysis.autocorrelation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import binom

from analysis.frames import Floats

ALPHA = 0.05


def percentile(samples: Floats, p: float) -> float | None:
    """The linear percentile, p in 0..1; None of no samples.  NaN samples are left out."""
    known = samples[~np.isnan(samples)]
    if not len(known):
        return None
    # Order statistics by hand when a failure counts as +inf: inf - inf would be NaN in numpy.
    place = p * (len(known) - 1)
    low, high = int(np.floor(place)), int(np.ceil(place))
    ordered = np.partition(known, (low, high))
    if low == high or ordered[low] == ordered[high]:
        return float(ordered[low])
    if np.isinf(ordered[high]):
        return float(ordered[high])
    return float(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def ranks(n: int, p: Floats, alpha: float = ALPHA) -> tuple[Floats, Floats]:
    """Ranks (l, u), from 1, whose samples enclose each true percentile with 1 - alpha at least.

    l = largest l with F(l-1; n, p) <= alpha/2, 0 = no lower bound;
    u = smallest u with F(u-1; n, p) >= 1 - alpha/2, n + 1 = no upper bound.  F: binomial cdf.
    Source: David & Nagaraja, Order Statistics (2003), section 7.1.
    """
    p = np.asarray(p, dtype="float64")
    low = np.asarray(binom.ppf(alpha / 2, n, p), dtype="float64")
    low = low + (np.asarray(binom.cdf(low, n, p)) <= alpha / 2)  # ppf met alpha/2 exactly
    high = np.asarray(binom.ppf(1 - alpha / 2, n, p), dtype="float64") + 1
    return np.maximum(low, 0), high


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval in the samples' unit; None where the samples give no bound on that side."""

    low: float | None
    high: float | None

    def as_list(self) -> list[float | None]:
        """As `show --json` writes it; a bound that is a failed request is no bound."""
        return [_finite(self.low), _finite(self.high)]


def intervals(
    samples: Floats, ps: Sequence[float], worth: Sequence[float] | None = None
) -> list[Interval]:
    """The order-statistic interval of each percentile, p in 0..1; (None, None) of no samples.

    worth: for each of ps how many independent samples they are worth, at most n (n_eff); None: all.
    Each of n_eff samples stands for n / n_eff of the n; a bound is the outermost of its own, so
    that few samples never put a bound on the wrong side of the percentile.
    """
    known = np.sort(samples[~np.isnan(samples)])
    n = len(known)
    found: list[Interval] = []
    for p, n_eff in zip(ps, worth or [n] * len(ps), strict=True):
        whole = int(min(n_eff, n))
        ((low, high),) = _ranks_of(whole, (p,), ALPHA)
        low, from_top = (_outermost(rank, n, whole) for rank in (low, whole + 1 - high))
        found.append(
            Interval(
                float(known[low - 1]) if low >= 1 else None,
                float(known[n - from_top]) if from_top >= 1 else None,
            )
        )
    return found


def _outermost(rank: int, n: int, n_eff: int) -> int:
    """The first of the n ranks that a rank of n_eff samples stands for; 0 for none."""
    return (rank - 1) * n // n_eff + 1 if rank >= 1 else 0


@lru_cache(maxsize=1024)  # all metrics of a level ask for the same few
def _ranks_of(n: int, ps: tuple[float, ...], alpha: float) -> list[tuple[int, int]]:
    if not n:
        return [(0, 1)] * len(ps)
    low, high = ranks(n, np.array(ps), alpha)
    return list(zip(low.astype(int).tolist(), high.astype(int).tolist(), strict=True))


def need_n(p: float, alpha: float = ALPHA) -> int:
    """How many samples a two-sided interval needs for a finite upper bound: p50 6, p95 72, p99 368.

    Independent ones; of others n / n_eff times as many.
    The upper rank exists once P(all n samples lie below the percentile) = p^n <= alpha/2.
    """
    return int(np.ceil(np.log(alpha / 2) / np.log(p)))


def is_thin(n: int, p: float) -> bool:
    """Whether less than one sample is expected beyond it: p95 of n < 20, p99 of n < 100."""
    return n < thin_below(p)


def thin_below(p: float) -> int:
    """The fewest samples that can carry the percentile at all: p50 2, p95 20, p99 100."""
    return int(np.ceil(1 / (1 - p) - 1e-9))


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
