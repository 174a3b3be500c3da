"""The metrics of gaps of one level: chunk gap, ITL, and how many gaps were stalls."""

from typing import Any

import numpy as np

from analysis.frames import Mask, floats, is_in, where
from analysis.gap_intervals import GapDoubt, stall_doubt
from analysis.gaps import Gaps, gaps_of, stall_share
from analysis.level_request import key_of, worth_of
from analysis.metrics import METRICS, STALLS_MS, Metric
from analysis.reading import StageReading, percentiles_of
from analysis.windows import is_complete, is_load

Json = dict[str, Any]

DEPENDENT = (
    "Gaps of one request are alike, and a stall stops all requests at once: the interval counts "
    "n_eff independent gaps."
)
NO_INTERVAL = GapDoubt(reason="There is no gap.")
SUMMARISED = (
    "Within 1 %: told from summaries by second; the token events are too many to read, or dropped."
)


def gap_metrics(stage: StageReading) -> Json:
    """By name; chunk_gap and itl with n, undefined, mean and percentiles, stalls with a value."""
    found = {
        name: _gap_metric(
            METRICS[name], gaps_of(stage.gaps, metric), stage.gap_doubt.get(metric, NO_INTERVAL)
        )
        for name, metric in (("chunk_gap", "gap"), ("itl", "itl"))
    }
    return found | _stall_shares(stage) | _stalls_per_1k(stage)


def _gap_metric(metric: Metric, gaps: Gaps, doubt: GapDoubt) -> Json:
    percentiles = percentiles_of(gaps.n)
    shown = [p for p in percentiles if p in doubt.intervals]
    n_eff = {p: doubt.n_eff[p] for p in shown}
    return {
        "unit": metric.unit,
        "n": gaps.n,
        "undefined": gaps.undefined,
        "mean": gaps.mean_ms,
        **{key_of(p): gaps.at(p) for p in percentiles},
        "ci95": {key_of(p): doubt.intervals[p].as_list() for p in shown},
        **worth_of(gaps.n, n_eff, DEPENDENT),
        **({"ci95_by": doubt.by} if doubt.by else {}),
        **({"ci95_reason": doubt.reason} if doubt.reason and gaps.n else {}),
        **({"within": gaps.within, "note": SUMMARISED} if gaps.within else {}),
        **({} if gaps.n else {"reason": metric.undefined_when}),
    }


def _stall_shares(stage: StageReading) -> Json:
    chunk_gaps = where(stage.histogram, is_in(stage.histogram, "metric", "gap"))
    load = stage.requests  # of the whole stage, as the histogram is
    answers = where(load, is_complete(load) & is_load(load))
    found: Json = {}
    for limit_ms in STALLS_MS:
        name = f"stall_share_{limit_ms}"
        share, n = stall_share(chunk_gaps, limit_ms)
        found[name] = {"unit": "%", "n": n, "value": share * 100 if share is not None else None}
        if share is None:
            found[name]["reason"] = METRICS[name].undefined_when
            continue
        doubt = stall_doubt(floats(answers, f"stalls_{limit_ms}"), answers)
        is_told = not isinstance(doubt, str)
        found[name] |= (
            {"ci95": [100 * side for side in doubt]}
            if is_told
            else {"ci95": None, "ci95_reason": doubt}
        )
    return found


def _stalls_per_1k(stage: StageReading) -> Json:
    """n: the answers behind it; undefined: complete ones that cannot be counted."""
    answers = stage.cohort.complete
    tokens = floats(answers, "output_tokens")
    known: Mask = ~np.isnan(tokens)
    known &= ~np.isnan(floats(answers, "n_gaps")) | (floats(answers, "n_chunks") == 1)
    found: Json = {}
    for limit_ms in STALLS_MS:
        metric = METRICS[f"stalls_per_1k_{limit_ms}"]
        stalls, of = np.nansum(floats(answers, f"stalls_{limit_ms}")[known]), tokens[known].sum()
        value = {"value": 1e3 * float(stalls) / float(of)} if of else {"value": None}
        counts = {"unit": metric.unit, "n": int(known.sum()), "undefined": int((~known).sum())}
        found[metric.name] = counts | value | ({} if of else {"reason": metric.undefined_when})
    return found
