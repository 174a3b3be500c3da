"""The metrics of a whole level: rates, goodput, failures and streams in flight over its window."""

from typing import Any

from analysis import throughput
from analysis.goodput import Goodput, goodput, why_none
from analysis.in_flight import mean_in_flight
from analysis.metrics import METRICS
from analysis.reading import Reading, StageReading, cell

Json = dict[str, Any]


def system_metrics(reading: Reading, stage: StageReading) -> Json:
    """By name: unit, value, and where it has them ci95, n, note, reason."""
    window, requests = stage.window, stage.requests
    count = throughput.TokenCount(
        tokens=int(cell(stage.tokens, "tokens") or 0),
        events=int(cell(stage.tokens, "events") or 0),
        unknown=int(cell(stage.tokens, "unknown") or 0),
    )
    tokens = throughput.token_rate(count, requests, window, stage.per_second)
    law = throughput.littles_law(requests, window)
    taken_in = throughput.input_rate(requests, window)
    total = None if tokens.value is None or taken_in is None else tokens.value + taken_in
    return {
        "tps_system": _value("tps_system", tokens.value)
        | {
            "ci95": list(tokens.ci95) if tokens.ci95 else None,
            "n": count.events,
            **({"ci95_reason": tokens.reason} if tokens.reason else {}),
            **({"note": tokens.note} if tokens.note else {}),
        },
        "tps_input": _value("tps_input", taken_in),
        "tps_total": _value("tps_total", total),
        "request_rate": _value("request_rate", throughput.request_rate(requests, window)),
        "offered_rate": _value("offered_rate", throughput.offered_rate(requests, window)),
        "mean_in_flight": _value(
            "mean_in_flight", mean_in_flight(requests, window.begin_us, window.end_us)
        )
        | {
            "rate_x_residence": law.rate_x_residence if law else None,
            "littles_law_holds": law.is_ok if law else None,
        },
        **_goodput(reading, stage),
        **_failures(stage),
    }


def _value(name: str, value: float | None, reason: str = "") -> Json:
    """A value; where there is none, why."""
    told = {"unit": METRICS[name].unit, "value": value}
    return told if value is not None else told | {"reason": reason or METRICS[name].undefined_when}


def _goodput(reading: Reading, stage: StageReading) -> Json:
    slos = reading.slos_of(stage)
    good = goodput(slos, stage.cohort, stage.kind)
    if not isinstance(good, Goodput):
        reason = why_none(slos)
        return {n: _value(n, None, reason) for n in ("goodput", "goodput_share", "token_goodput")}
    seconds = stage.window.seconds
    counts = {"met": good.met, "of": good.arrived, "not_applicable": good.not_applicable}
    share = 100 * good.met / good.arrived if good.arrived else None
    per_s = None if good.tokens is None else good.tokens / seconds
    return {
        "goodput": _value("goodput", good.met / seconds) | counts,
        "goodput_share": _value("goodput_share", share),
        "token_goodput": _value("token_goodput", per_s),
    }


def _failures(stage: StageReading) -> Json:
    of = stage.cohort
    arrived = len(of.arrived) - of.censored
    share = 100 * of.failed / arrived if arrived else None
    return {
        "error_rate": _value("error_rate", share) | {"n": arrived},
        "censored": _value("censored", of.censored),
    }
