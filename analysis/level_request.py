"""The metrics per request of one level: percentiles with their intervals, of complete answers."""

import math
from typing import Any

import numpy as np

from analysis.autocorrelation import effective_ns
from analysis.frames import number
from analysis.metrics import METRICS, Metric
from analysis.per_request import first_chunk_assumed
from analysis.per_request_stream import chunk_based
from analysis.quantiles import intervals, need_n, percentile
from analysis.reading import PERCENTILES, StageReading, percentiles_of
from analysis.samples import Samples, samples

Json = dict[str, Any]

ALIKE = (
    "Requests sent one after another are alike (they queue, or share a batch), so they tell less "
    "than as many independent ones: the interval counts n_eff of them."
)


def request_metrics(stage: StageReading) -> Json:
    """By name: unit, n, undefined, mean, percentiles, ci95, need_n, with_failures, note, reason."""
    found = {
        metric.name: _request_metric(metric, samples(metric.name, stage.cohort))
        for metric in METRICS.values()
        if metric.values is not None
    }
    if assumed := first_chunk_assumed(stage.cohort.complete):
        found["tpot"]["note"] = f"{assumed:,} first chunks were taken for one token: not told."
    if by_chunk := chunk_based(stage.cohort.complete):
        note = f"Of {by_chunk:,} answers each chunk was taken for one token: not told."
        found["smoothness"]["note"] = note
    return found


def _request_metric(metric: Metric, found: Samples) -> Json:
    values, n = found.values, len(found.values)
    shown = _shown(metric, n)
    n_eff = effective_ns(values, shown)
    bounds = [interval.as_list() for interval in intervals(values, shown, n_eff)]
    is_late = metric.unit == "ms" and not metric.is_ours
    return {
        "unit": metric.unit,
        "n": n,
        "undefined": found.undefined,
        "mean": float(np.mean(values)) if n else None,
        **{key_of(p): percentile(values, p) for p in shown},
        "ci95": dict(zip(map(key_of, shown), bounds, strict=True)) if n else {},
        **worth_of(n, dict(zip(shown, n_eff, strict=True)), ALIKE),
        **({"with_failures": _with_failures(found)} if is_late and n and found.failed else {}),
        **({} if n else {"reason": metric.undefined_when}),
    }


def worth_of(n: int, n_eff: dict[float, float], why: str) -> Json:
    """n_eff (where it is less than n) with its reason, and need_n of percentiles without a bound.

    n_eff: by p.  The bound that may be missing is that of the tail: p95's upper, p5's lower one.
    """
    few = {key_of(p): int(worth) for p, worth in n_eff.items() if worth < n}
    need = {
        key_of(p): math.ceil(need_n(max(p, 1 - p)) * n / worth)
        for p, worth in n_eff.items()
        if n and int(worth) < need_n(max(p, 1 - p))
    }
    return {**({"n_eff": few, "n_eff_reason": why} if few else {}), "need_n": need}


def _with_failures(found: Samples) -> Json:
    """Percentiles with each failure as +infinity; None: a failed request stands there."""
    return {key_of(p): number(percentile(found.with_failures, p)) for p in PERCENTILES}


def _shown(metric: Metric, n: int) -> tuple[float, ...]:
    """The slow end is the tail: p5 and p1 too where higher is better."""
    shown = percentiles_of(n)
    return (0.01, 0.05, 0.1, *shown) if metric.better == "higher" else shown


def key_of(p: float) -> str:
    """`p95` of 0.95."""
    return f"p{100 * p:g}"
