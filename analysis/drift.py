"""Did the window stand still?  A trend of TTFT over it means overload or a warming server."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kendalltau, norm, theilslopes

from analysis.autocorrelation import effective_ns
from analysis.frames import Floats

NEED_REQUESTS = 20
DRIFT_SHARE = 0.10
TREND_P = 0.01
MOST_POINTS = 1_000  # Theil-Sen looks at each pair: every k-th request is enough


@dataclass(frozen=True, slots=True)
class Drift:
    """Change of the median over the window as a share of it; `is_drift`: large and not chance."""

    change_share: float
    p_value: float
    is_drift: bool


def drift(instant_us: Floats, ttft_ms: Floats) -> Drift | None:
    """Mann-Kendall test for a trend and Theil-Sen's slope for its size; None below 20 requests.

    Both rest on ranks: one stalled request cannot make or hide a trend.  Requests that are alike
    wander by themselves: the test counts n_eff of them, of what is left without the slope.
    Source: Yue & Wang, Water Resources Management 18 (2004) 201-218, on the test's variance.
    """
    known = ~np.isnan(instant_us) & ~np.isnan(ttft_ms)
    instant, ttft = instant_us[known], ttft_ms[known]
    length = float(np.ptp(instant)) if len(instant) else 0.0
    if len(instant) < NEED_REQUESTS or length == 0 or np.ptp(ttft) == 0:
        return None
    trend: Any = kendalltau(instant, ttft)
    every = np.argsort(instant)[:: -(-len(instant) // MOST_POINTS)]
    fit: Any = theilslopes(ttft[every], instant[every])
    share = float(fit.slope) * length / float(np.median(ttft))
    in_order = np.argsort(instant, kind="stable")
    left = (ttft - float(fit.slope) * instant)[in_order]
    worth = effective_ns(left, (0.5,))[0] / len(left)
    z = float(norm.isf(float(trend.pvalue) / 2)) * np.sqrt(worth)
    p_value = float(2 * norm.sf(z))
    return Drift(share, p_value, p_value < TREND_P and abs(share) > DRIFT_SHARE)
