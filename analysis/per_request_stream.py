"""How evenly each request's chunks came: one number per row, of the columns of `request_gaps`.

NaN where a request has fewer than two chunks, and while the run goes on: those columns are written
at its end.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats
from analysis.per_request import US_PER_MS

FEWEST_CHUNKS = 20  # below it a request's own percentiles say nothing
READING_TPS = 10  # tokens a second of a reader; `request_gaps.paused_us` is made with it


def longest_gap_ms(requests: pd.DataFrame) -> Floats:
    """The longest chunk gap."""
    return floats(requests, "longest_gap_us") / US_PER_MS


def stalled_ms(limit_ms: int) -> Callable[[pd.DataFrame], Floats]:
    """A function of rows: the sum of what each chunk gap had above `limit_ms`."""
    return lambda requests: floats(requests, f"stalled_{limit_ms}_us") / US_PER_MS


def jitter_ms(requests: pd.DataFrame) -> Floats:
    """p95 - p50 of the request's chunk gaps; NaN below FEWEST_CHUNKS chunks."""
    return _of_enough(requests, "gap_p95_us", "gap_p50_us")


def gap_iqr_ms(requests: pd.DataFrame) -> Floats:
    """p75 - p25 of the request's chunk gaps; NaN below FEWEST_CHUNKS chunks."""
    return _of_enough(requests, "gap_p75_us", "gap_p25_us")


def gap_cv(requests: pd.DataFrame) -> Floats:
    """Population standard deviation / mean of the request's chunk gaps."""
    mean, sd = floats(requests, "gap_mean_us"), floats(requests, "gap_sd_us")
    known = _has_enough(requests) & (mean > 0)
    return np.divide(sd, mean, out=np.full(len(requests), np.nan), where=known)


def smoothness(requests: pd.DataFrame) -> Floats:
    """Percent of the reading time in which a reader of READING_TPS never had to wait."""
    paused = floats(requests, "paused_us")
    whole = floats(requests, "last_token_us") - floats(requests, "first_token_us") + paused
    share = np.divide(paused, whole, out=np.full(len(requests), np.nan), where=whole > 0)
    return 100.0 * (1 - share)


def chunk_based(requests: pd.DataFrame) -> int:
    """How many requests with a smoothness had to take each chunk for one token."""
    told = floats(requests, "is_told")
    return int(np.sum(~np.isnan(smoothness(requests)) & ~(told > 0)))


def gaps_missing(requests: pd.DataFrame) -> int:
    """How many answers must have gaps (they took time after the first token) and show none."""
    took = floats(requests, "last_token_us") > floats(requests, "first_token_us")
    return int(np.sum(took & np.isnan(floats(requests, "longest_gap_us"))))


def _of_enough(requests: pd.DataFrame, high: str, low: str) -> Floats:
    span = (floats(requests, high) - floats(requests, low)) / US_PER_MS
    return np.where(_has_enough(requests), span, np.nan)


def _has_enough(requests: pd.DataFrame) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return floats(requests, "n_gaps") >= FEWEST_CHUNKS - 1
