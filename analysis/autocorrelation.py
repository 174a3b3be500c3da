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
SUMS = (1, 4, 16)  # lags over which ρ is summed to tell memory from chance
NOT_CHANCE = 3.0  # standard deviations of such a sum: 0.1 % of independent samples exceed it


def effective_ns(in_send_order: Floats, ps: Sequence[float]) -> list[float]:
    """n_eff = n / (1 + 2 Σ ρ_k) of the indicator x > q_p, for each p in 0..1; at most n.

    in_send_order: samples without NaN.  Few samples lie beyond a tail percentile, and their ρ_k
    come out too small: so the longest memory counts of the indicators at p (or at the nearest
    percentile with 30 samples beyond it) and at p50, p75 and p90 below it (p10, p25, p50 above).
    n where n_eff is above 0.9 n, where independent samples would have shown as much (`has_memory`),
    and of fewer than 20 samples.
    Source: Sokal, Monte Carlo Methods in Statistical Mechanics (1997), section 3: the integrated
    autocorrelation time.  How its sum ends: `integrated_time`; why so: docs/adr/0011-intervals.md.
    """
    n = len(in_send_order)
    if n < FEWEST:
        return [float(n)] * len(ps)
    edge = min(BEYOND / n, 0.5)
    wanted = [_looked_at(float(np.clip(p, edge, 1 - edge))) for p in ps]
    levels = sorted({level for looked_at in wanted for level in looked_at})
    limits = np.quantile(in_send_order, levels)
    beyond = {level: in_send_order > q for level, q in zip(levels, limits, strict=True)}
    if not any(map(has_memory, beyond.values())):
        return [float(n)] * len(ps)
    times = {level: integrated_time(series) for level, series in beyond.items()}
    found = [max(times[level] for level in looked_at) for looked_at in wanted]
    return [n / time if n / time < NEGLIGIBLE * n else float(n) for time in found]


def _looked_at(p: float) -> list[float]:
    """The percentile itself, and those between it and the median."""
    low, high = sorted((p, 0.5))
    return [p, *(level for level in TOWARDS_THE_MIDDLE if low <= level <= high)]


def has_memory(series: Floats | NDArray[np.bool_]) -> bool:
    """Whether ρ summed over the first 1, 4 or 16 lags is more than chance makes it.

    Of n independent samples such a sum over k lags has mean −k / n and variance k / n.
    Source: Bartlett, Journal of the Royal Statistical Society, Supplement 8 (1946) 27-41.
    """
    rho = _Correlations(series)
    n, total = len(series), 0.0
    for k in range(1, min(max(SUMS), n // 4) + 1):
        total += rho.at(k) + 1 / n
        if k in SUMS and total > NOT_CHANCE * np.sqrt(k / n):
            return True
    return False


def integrated_time(series: Floats | NDArray[np.bool_]) -> float:
    """τ = 1 + 2 Σ ρ_k of a series, at least 1; 1 of a constant one.

    Σ ends by the initial monotone sequence: sums of neighbouring pairs, up to the first that is not
    positive, none taken for more than the one before.  Each ρ_k is freed of its bias of −τ/n, which
    comes of subtracting the series' own mean.
    Source: Geyer, Practical Markov Chain Monte Carlo (1992), section 3.3.
    """
    n, rho = len(series), _Correlations(series)
    if not rho.is_defined:
        return 1.0
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

    def __init__(self, series: Floats | NDArray[np.bool_]) -> None:
        values = np.asarray(series, dtype="float64")
        self._centred = values - values.mean()
        self._scale = float(self._centred @ self._centred)
        self._all: Floats | None = None

    @property
    def is_defined(self) -> bool:
        """Whether the series changes at all."""
        return self._scale > 0

    def at(self, k: int) -> float:
        """ρ_k; 0 of a series that never changes."""
        n = len(self._centred)
        if not self.is_defined:
            return 0.0
        if k <= BY_PRODUCTS:
            return float(self._centred[: n - k] @ self._centred[k:]) / self._scale
        if self._all is None:
            size = 1 << (2 * n - 1).bit_length()
            spectrum = np.abs(np.fft.rfft(self._centred, size)) ** 2
            self._all = np.fft.irfft(spectrum, size)[:n] / self._scale
        return float(self._all[k])
