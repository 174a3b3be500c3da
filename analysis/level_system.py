"""The metrics of a whole level: rates, goodput, failures and streams in flight over its window."""

from typing import Any

from analysis import throughput
from analysis.goodput import Goodput, goodput, why_none
from analysis.in_flight import mean_in_flight
from analysis.metrics import METRICS
from analysis.reading import Reading, StageReading, cell

Json = dict[str, Any]

NO_TIMES = "the imported file does not tell when requests were sent"
TIMED = ("tps_system", "tps_input", "tps_total", "request_rate", "offered_rate", "mean_in_flight")


def system_metrics(reading: Reading, stage: StageReading) -> Json:
    """By name: unit, value, and where it has them ci95, n, note, reason."""
    found = _goodput(reading, stage) | _failures(stage)
    if not stage.window.has_times:
        untold = {name: _value(name, None, NO_TIMES) for name in TIMED}
        untold["tps_system"] |= {"ci95": None, "n": int(cell(stage.tokens, "events") or 0)}
        return found | untold
    return found | _rates(stage)


def _rates(stage: StageReading) -> Json:
    window, requests = stage.window, stage.requests
    taken_in = throughput.input_rate(requests, window)
    output = _output(stage)
    total = None if output["value"] is None or taken_in is None else output["value"] + taken_in
    law = throughput.littles_law(requests, window)
    return {
        "tps_system": output,
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
    }


def _output(stage: StageReading) -> Json:
    """System output TPS with its interval."""
    count = throughput.TokenCount(
        tokens=int(cell(stage.tokens, "tokens") or 0),
        events=int(cell(stage.tokens, "events") or 0),
        unknown=int(cell(stage.tokens, "unknown") or 0),
    )
    n: int | None = count.events
    if not count.events and stage.is_foreign:
        tokens = throughput.told_rate(stage.requests, stage.window)
        n = None  # of chunks: they are not told
    else:
        tokens = throughput.token_rate(count, stage.requests, stage.window, stage.per_second)
    return _value("tps_system", tokens.value) | {
        "ci95": list(tokens.ci95) if tokens.ci95 else None,
        "n": n,
        **({"ci95_reason": tokens.reason} if tokens.reason else {}),
        **({"note": tokens.note} if tokens.note else {}),
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
    seconds = stage.window.seconds if stage.window.has_times else None
    counts = {"met": good.met, "of": good.arrived, "not_applicable": good.not_applicable}
    share = 100 * good.met / good.arrived if good.arrived else None
    per_s = None if good.tokens is None or seconds is None else good.tokens / seconds
    rate = None if seconds is None else good.met / seconds
    why = "" if seconds else NO_TIMES
    return {
        "goodput": _value("goodput", rate, why) | counts,
        "goodput_share": _value("goodput_share", share),
        "token_goodput": _value("token_goodput", per_s, why),
    }


def _failures(stage: StageReading) -> Json:
    of = stage.cohort
    arrived = len(of.arrived) - of.censored
    share = 100 * of.failed / arrived if arrived else None
    return {
        "error_rate": _value("error_rate", share) | {"n": arrived},
        "censored": _value("censored", of.censored),
    }
