"""How many independent requests a level is worth: waits in a queue resemble their neighbours'.

The interval of a percentile rests on how many samples lie above it.  Where samples in send order
come in runs of slow ones, that number scatters more than a binomial's, as if there were fewer.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.frames import Floats

BEYOND = 30  # samples on the rarer side that an autocorrelation can be read from
FEWEST = 20
NEGLIGIBLE = 0.9  # n_eff above this share of n is n
TOWARDS_THE_MIDDLE = (0.1, 0.25, 0.5, 0.75, 0.9)
BY_PRODUCTS = 16  # lags; independent samples need no more, and a transform of all of them is dear


def effective_ns(in_send_order: Floats, ps: Sequence[float]) -> list[float]:
    """n_eff = n / (1 + 2 Σ ρ_k) of the indicator x > q_p, for each p in 0..1; at most n.

    in_send_order: samples without NaN.  Few samples lie beyond a tail percentile, and their ρ_k
    come out too small: so the longest memory counts of the indicators at p (or at the nearest
    percentile with 30 samples beyond it) and at p50, p75 and p90 below it (p10, p25, p50 above).
    n where n_eff is above 0.9 n, or so near that independent samples look alike (1 + 4 / √n), and
    of fewer than 20 samples.
    Source: Sokal, Monte Carlo Methods in Statistical Mechanics (1997), section 3: the integrated
    autocorrelation time.  How its sum ends: `integrated_time`.  The choice: docs/adr/0010.
    """
    n = len(in_send_order)
    if n < FEWEST:
        return [float(n)] * len(ps)
    edge = min(BEYOND / n, 0.5)
    wanted = [_looked_at(float(np.clip(p, edge, 1 - edge))) for p in ps]
    levels = sorted({level for looked_at in wanted for level in looked_at})
    limits = np.quantile(in_send_order, levels)
    times = {
        level: integrated_time(in_send_order > limit)
        for level, limit in zip(levels, limits, strict=True)
    }
    least = max(1 / NEGLIGIBLE, 1 + 4 / np.sqrt(n))
    found = [max(times[level] for level in looked_at) for looked_at in wanted]
    return [n / time if time > least else float(n) for time in found]


def _looked_at(p: float) -> list[float]:
    """The percentile itself, and those between it and the median."""
    low, high = sorted((p, 0.5))
    return [p, *(level for level in TOWARDS_THE_MIDDLE if low <= level <= high)]


def integrated_time(series: Floats | NDArray[np.bool_]) -> float:
    """τ = 1 + 2 Σ ρ_k of a series, at least 1; 1 of a constant one.

    Σ ends by the initial monotone sequence: sums of neighbouring pairs, up to the first that is not
    positive, none taken for more than the one before.  Each ρ_k is freed of its bias of −τ/n, which
    comes of subtracting the series' own mean.
    Source: Geyer, Practical Markov Chain Monte Carlo (1992), section 3.3.
    """
    centred = np.asarray(series, dtype="float64")
    centred = centred - centred.mean()
    n, scale = len(centred), float(centred @ centred)
    if n < 2 or scale == 0:
        return 1.0
    rho = _Correlations(centred, scale)
    total, lowest, bias = 0.0, np.inf, 1.0 / n
    for k in range(0, n - 1, 2):
        pair = rho.at(k) + rho.at(k + 1) + (2 * bias if k else bias)  # ρ_0 is 1, without bias
        if pair <= 0:
            break
        lowest = min(lowest, pair)
        total += lowest
        bias = max(2 * total - 1, 1.0) / n
    return max(2 * total - 1, 1.0)


class _Correlations:
    """ρ_k on demand: the first few by products, all of them by a transform."""

    def __init__(self, centred: Floats, scale: float) -> None:
        self._centred = centred
        self._scale = scale
        self._all: Floats | None = None

    def at(self, k: int) -> float:
        n = len(self._centred)
        if k < BY_PRODUCTS:
            return float(self._centred[: n - k] @ self._centred[k:]) / self._scale
        if self._all is None:
            size = 1 << (2 * n - 1).bit_length()
            spectrum = np.abs(np.fft.rfft(self._centred, size)) ** 2
            self._all = np.fft.irfft(spectrum, size)[:n] / self._scale
        return float(self._all[k])
