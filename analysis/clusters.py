"""How many independent gaps a level's gaps are worth, and the intervals that follow from it.

Gaps of one request resemble each other, and a stalled engine stops all requests at once: a hundred
thousand gaps may be worth a few hundred.  A share of gaps is a ratio of two sums over clusters
(gaps at most x, gaps); how it scatters from cluster to cluster says how many independent gaps it is
worth.  Compared with resampling the clusters: docs/adr/0011-intervals.md.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, norm
from scipy.stats import t as student_t

from analysis.frames import Floats
from analysis.quantiles import ALPHA, ranks

LEAST_BLOCK_S = 5.0
FEWEST_CLUSTERS = 6


@dataclass(frozen=True, slots=True)
class Shares:
    """Of each cluster (row) its gaps `n` and, per limit (column), how many of them count."""

    n: Floats
    counted: Floats


def block_seconds(median_e2e_s: float) -> float:
    """How long a block of time is: 5 s, or twice a median answer where that is longer."""
    return max(LEAST_BLOCK_S, 2 * median_e2e_s)


def blocks(shares: Shares, at_s: Floats, block_s: float) -> Shares:
    """Clusters joined to blocks of time; at_s: one instant per cluster.

    A block without gaps is left out; one cut off by the window's end is a cluster like the others.
    """
    if not len(at_s):
        return shares
    number = np.floor((at_s - np.min(at_s)) / block_s)
    _, of_cluster = np.unique(number, return_inverse=True)
    n = np.asarray(np.bincount(of_cluster, weights=shares.n), dtype="float64")
    counted = [np.bincount(of_cluster, weights=column) for column in shares.counted.T]
    return Shares(n, np.asarray(np.column_stack(counted), dtype="float64"))


def worth(shares: Shares) -> Floats | None:
    """How many independent gaps each limit's share is worth; None of fewer than 6 clusters.

    n_eff = F (1 − F) / Var(F): F the share, Var of the ratio by Taylor's expansion over the
    clusters; times (z / t)², because Var itself is a guess.  At least 1, at most the gaps there
    are.  Infinite where nothing scatters (no gap counts, or all do): that tells nothing.
    Source: Korn & Graubard, Survey Methodology 24 (1998) 193-201.
    """
    m, total = len(shares.n), float(shares.n.sum())
    if m < FEWEST_CLUSTERS or not total:
        return None
    share = shares.counted.sum(axis=0) / total
    residual = shares.counted - shares.n[:, None] * share
    variance = m / (m - 1) * np.sum(residual**2, axis=0) / total**2
    scatters = variance > 0
    guess = (norm.ppf(1 - ALPHA / 2) / student_t.ppf(1 - ALPHA / 2, _freedom(residual))) ** 2
    found = np.full(len(share), np.inf)
    np.divide(guess * share * (1 - share), variance, out=found, where=scatters)
    return np.where(scatters, np.clip(found, 1.0, total), np.inf)


def _freedom(residual: Floats) -> Floats:
    """Degrees of freedom of each column's variance: 2 m / (kurtosis − 1), at most m − 1.

    The gaps of the tail may all be of a few clusters; then their variance is hardly known.
    Source: Satterthwaite, Biometrics Bulletin 2 (1946) 110-114, with the sample's own kurtosis.
    """
    m = len(residual)
    second, fourth = np.mean(residual**2, axis=0), np.mean(residual**4, axis=0)
    kurtosis = np.divide(fourth, second**2, out=np.full(len(second), 3.0), where=second > 0)
    return np.minimum(2 * m / np.maximum(kurtosis - 1, 1e-9), m - 1)


def levels(n_eff: float, p: float) -> tuple[float | None, float | None]:
    """The probabilities whose quantiles enclose the true p-quantile; None: no such sample.

    The binomial order statistics of n_eff gaps, taken through the gaps' own distribution.
    Source: Woodruff, Journal of the American Statistical Association 47 (1952) 635-646.
    """
    n = max(int(n_eff), 1)
    low, high = (float(side[0]) for side in ranks(n, np.array([p])))
    return low / n if low >= 1 else None, (high - 1) / n if high <= n else None


def share_interval(share: float, n_eff: float) -> tuple[float, float]:
    """The exact binomial interval (Clopper-Pearson) of a share of n_eff independent gaps, 0..1."""
    hits = share * n_eff
    low = float(beta.ppf(ALPHA / 2, hits, n_eff - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - ALPHA / 2, hits + 1, n_eff - hits)) if hits < n_eff else 1.0
    return low, high
