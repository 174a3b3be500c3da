"""Percentiles and shares of gaps, whose interval is by request or by block of time, not by gap.

Gaps of one request resemble each other, and a stalled engine stops all requests at once: a hundred
thousand gaps may be worth a few hundred.  A share of gaps is the ratio of two sums over clusters
(gaps at most x, gaps); how it scatters from cluster to cluster says how many independent gaps it is
worth, and a binomial interval of that many goes from the share to a percentile through the gaps'
own distribution (Woodruff).  Compared with resampling clusters: docs/adr/0010.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import beta
from scipy.stats import norm
from scipy.stats import t as student_t

from analysis.frames import Floats
from analysis.quantiles import ALPHA, ranks

LEAST_BLOCK_S = 5.0
FEWEST_CLUSTERS = 6


@dataclass(frozen=True, slots=True)
class Shares:
    """Of each cluster (row) its gaps `n` and, per limit (column), how many of them are counted."""

    n: Floats
    counted: Floats


def blocks(shares: Shares, at_s: Floats, block_s: float) -> Shares:
    """Clusters joined to blocks of time by `at_s`, one per cluster; a block without any is left out.

    The last block may be cut off by the window's end and hold fewer gaps: it is a ratio's cluster
    like the others.
    """
    number = np.floor((at_s - np.min(at_s)) / block_s).astype(int) if len(at_s) else at_s.astype(int)
    _, inverse = np.unique(number, return_inverse=True)
    n = np.bincount(inverse, weights=shares.n)
    columns = [np.bincount(inverse, weights=column) for column in shares.counted.T]
    return Shares(n, np.column_stack(columns) if columns else np.zeros((len(n), 0)))


def block_seconds(median_e2e_s: float) -> float:
    """How long a block is: 5 s, or twice a median answer if that is longer."""
    return max(LEAST_BLOCK_S, 2 * median_e2e_s)


def worth(shares: Shares) -> Floats | None:
    """How many independent gaps each share is worth, at most as many as there are.

    n_eff = F (1 − F) / Var(F), Var of the ratio by Taylor's expansion over m clusters, times
    (z / t(m − 1))² for not knowing Var; F: the share itself.  A share of none or all: m, as if each
    cluster were one gap.  None below 6 clusters.
    Source: Korn & Graubard, Survey Methodology 24 (1998) 193-201; Woodruff, JASA 47 (1952) 635-646.
    """
    m, total = len(shares.n), float(shares.n.sum())
    if m < FEWEST_CLUSTERS:
        return None
    share = shares.counted.sum(axis=0) / total
    residual = shares.counted - shares.n[:, None] * share
    variance = m / (m - 1) * np.sum(residual**2, axis=0) / total**2
    is_known = variance > 0
    found = np.divide(share * (1 - share), variance, out=np.full(len(share), float(m)), where=is_known)
    few = (norm.ppf(1 - ALPHA / 2) / student_t.ppf(1 - ALPHA / 2, _freedom(residual))) ** 2
    return np.clip(np.where(is_known, few, 1.0) * found, 1.0, total)


def _freedom(residual: Floats) -> Floats:
    """Degrees of freedom of each column's variance: 2 m / (kurtosis − 1), at most m − 1.

    The tail's gaps may all be of a few clusters; then the variance itself is a guess.
    Source: Satterthwaite, Biometrics Bulletin 2 (1946) 110-114, with the sample's own kurtosis.
    """
    m = len(residual)
    second, fourth = np.mean(residual**2, axis=0), np.mean(residual**4, axis=0)
    excess = np.divide(fourth, second**2, out=np.full(len(second), 3.0), where=second > 0) - 1
    return np.minimum(2 * m / np.maximum(excess, 1e-9), m - 1)
