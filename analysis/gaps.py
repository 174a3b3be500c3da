"""Chunk gaps and per-token ITL of one window, and the share of gaps that were stalls."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats, is_in, number, where
from analysis.per_request import US_PER_MS
from storage.buckets import bucket_us


@dataclass(frozen=True, slots=True)
class Gaps:
    """Quantiles of gaps, ms; probabilities 0..1 as they were asked.

    n: gaps (ITL: tokens); undefined: gaps whose tokens are not told (ITL only).
    within: how far times may be off, a share: 0 exact, 0.01 from the summary of a very long level.
    """

    n: int
    undefined: int
    mean_ms: float | None
    quantiles_ms: dict[float, float]
    within: float = 0.0

    def at(self, p: float) -> float | None:
        """The quantile of probability p; None if there is no gap, or it was not asked for."""
        return self.quantiles_ms.get(round(p, 9))


NONE = Gaps(0, 0, None, {})


def gaps_of(frame: pd.DataFrame, metric: str) -> Gaps:
    """One metric ("gap" or "itl") out of the store's `gap_quantiles`.

    frame: one row per metric and probability: metric, q, value_us, n, mean_us, undefined,
    within.
    """
    rows = where(frame, is_in(frame, "metric", metric))
    if not len(rows):
        return NONE
    n, undefined = (int(number(rows[column].iloc[0]) or 0) for column in ("n", "undefined"))
    if not n:
        return Gaps(0, undefined, None, {})
    mean_us = number(rows["mean_us"].iloc[0])
    values = floats(rows, "value_us") / US_PER_MS
    return Gaps(
        n=n,
        undefined=undefined,
        mean_ms=mean_us / US_PER_MS if mean_us is not None else None,
        quantiles_ms=dict(zip(floats(rows, "q").round(9).tolist(), values.tolist(), strict=True)),
        within=number(rows["within"].iloc[0]) or 0.0 if "within" in rows else 0.0,
    )


def buckets_ms(buckets: Floats) -> Floats:
    """The duration in ms that stands for each bucket number of storage.buckets."""
    return np.array([bucket_us(int(b)) for b in buckets]) / US_PER_MS


def stall_share(histogram: pd.DataFrame, limit_ms: float) -> tuple[float | None, int]:
    """Share of gaps longer than `limit_ms`, 0..1, and how many gaps there are; (None, 0) of none.

    histogram: rows (b, n) of storage.buckets; the limit is met to 1 %, the width of a bucket.
    """
    counts = np.nan_to_num(floats(histogram, "n"))
    total = float(counts.sum())
    if not total:
        return None, 0
    slow = buckets_ms(floats(histogram, "b")) > limit_ms
    return float(counts[slow].sum()) / total, int(total)
