"""Every entry of METRICS for one load level, as `show --json` writes it."""

from typing import Any

import numpy as np

from analysis import throughput
from analysis.frames import is_in, number, where
from analysis.gaps import Gaps, gaps_of, stall_share
from analysis.goodput import goodput
from analysis.in_flight import mean_in_flight
from analysis.metrics import METRICS, STALLS_MS, Metric
from analysis.per_request import first_chunk_assumed
from analysis.quantiles import intervals, need_n, percentile
from analysis.reading import PERCENTILES, Reading, StageReading, cell
from analysis.samples import Samples, samples

Json = dict[str, Any]

NO_GAP_INTERVAL = "gaps of one request depend on each other; no interval by request is made yet"
NO_GAP = "an objective on chunk gaps needs each request's longest gap, which rows do not carry"
# Not the endpoint's latency as a client sees it: a failure does not make them late.
OURS = ("connect", "send_lag", "server_queue", "server_prefill")


def level_metrics(reading: Reading, stage: StageReading) -> Json:
    """Every entry of METRICS for one level, by name; undefined is None and has a `reason`."""
    found: Json = {}
    for metric in METRICS.values():
        if metric.values is not None:
            found[metric.name] = _request_metric(metric, samples(metric.name, stage.cohort))
    assumed = first_chunk_assumed(stage.cohort.complete)
    if assumed:
        found["tpot"]["note"] = f"{assumed:,} first chunks were taken for one token: not told."
    found["chunk_gap"] = _gap_metric(METRICS["chunk_gap"], gaps_of(stage.gaps, "gap"))
    found["itl"] = _gap_metric(METRICS["itl"], gaps_of(stage.gaps, "itl"))
    found |= _stalls(stage) | _system_metrics(reading, stage)
    return {name: found[name] for name in METRICS}


def _request_metric(metric: Metric, found: Samples) -> Json:
    values, n, shown = found.values, len(found.values), _shown(metric)
    bounds = [interval.as_list() for interval in intervals(values, shown)]
    is_late = metric.unit == "ms" and metric.name not in OURS
    return {
        "unit": metric.unit,
        "n": n,
        "undefined": found.undefined,
        "mean": float(np.mean(values)) if n else None,
        **{_key(p): percentile(values, p) for p in shown},
        "ci95": dict(zip(map(_key, shown), bounds, strict=True)) if n else {},
        "need_n": {_key(p): need_n(p) for p in PERCENTILES if n and n < need_n(p)},
        **({"with_failures": _with_failures(found)} if is_late and n and found.failed else {}),
        **({} if n else {"reason": metric.undefined_when}),
    }


def _with_failures(found: Samples) -> Json:
    """Percentiles with each failure as +infinity; None: a failed request stands there."""
    return {_key(p): number(percentile(found.with_failures, p)) for p in PERCENTILES}


def _shown(metric: Metric) -> tuple[float, ...]:
    """The slow end is the tail: p5 and p1 too where higher is better."""
    return (0.01, 0.05, 0.1, *PERCENTILES) if metric.better == "higher" else PERCENTILES


def _gap_metric(metric: Metric, gaps: Gaps) -> Json:
    return {
        "unit": metric.unit,
        "n": gaps.n,
        "undefined": gaps.undefined,
        "mean": gaps.mean_ms,
        **{_key(p): gaps.at(p) for p in PERCENTILES},
        "ci95": {},
        "ci95_reason": NO_GAP_INTERVAL,
        **({"within": gaps.within} if gaps.within else {}),
        **({} if gaps.n else {"reason": metric.undefined_when}),
    }


def _stalls(stage: StageReading) -> Json:
    chunk_gaps = where(stage.histogram, is_in(stage.histogram, "metric", "gap"))
    found: Json = {}
    for limit_ms in STALLS_MS:
        share, n = stall_share(chunk_gaps, limit_ms)
        percent = share * 100 if share is not None else None
        found[f"stall_share_{limit_ms}"] = {"unit": "%", "n": n, "value": percent}
    return found


def _system_metrics(reading: Reading, stage: StageReading) -> Json:
    window, requests = stage.window, stage.requests
    count = throughput.TokenCount(
        tokens=int(cell(stage.tokens, "tokens") or 0),
        events=int(cell(stage.tokens, "events") or 0),
        unknown=int(cell(stage.tokens, "unknown") or 0),
    )
    tokens = throughput.token_rate(count, requests, window, stage.per_second)
    law = throughput.littles_law(requests, window)
    return {
        "tps_system": {
            "unit": "tok/s",
            "value": tokens.value,
            "ci95": list(tokens.ci95) if tokens.ci95 else None,
            "n": count.events,
            **({"ci95_reason": tokens.reason} if tokens.reason else {}),
            **({"note": tokens.note} if tokens.note else {}),
        },
        "tps_input": {"unit": "tok/s", "value": throughput.input_rate(requests, window)},
        "request_rate": {"unit": "req/s", "value": throughput.request_rate(requests, window)},
        "offered_rate": {"unit": "req/s", "value": throughput.offered_rate(requests, window)},
        "goodput": _goodput(reading, stage),
        "mean_in_flight": {
            "unit": "streams",
            "value": mean_in_flight(requests, window.begin_us, window.end_us),
            "rate_x_residence": law.rate_x_residence if law else None,
            "littles_law_holds": law.is_ok if law else None,
        },
    }


def _goodput(reading: Reading, stage: StageReading) -> Json:
    slos = reading.slos_of(stage)
    good = goodput(slos, stage.cohort, stage.window, stage.kind)
    if good is None:
        why = NO_GAP if slos else METRICS["goodput"].undefined_when
        return {"unit": "req/s", "value": None, "reason": why}
    counts = {"met": good.met, "of": good.arrived, "not_applicable": good.not_applicable}
    return {"unit": "req/s", "value": good.value_per_s, **counts}


def _key(p: float) -> str:
    return f"p{100 * p:g}"
