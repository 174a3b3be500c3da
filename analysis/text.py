"""The dict of show.py as plain text for a terminal: validity first, then each level's table."""

from typing import Any

from analysis.checks import together
from analysis.level_words import streams_text
from analysis.metrics import METRICS, Metric
from analysis.quantiles import is_thin
from loadgen.run_ended import ENDED_BY

Json = dict[str, Any]

LATENCY = ("p50", "p90", "p95", "p99")  # the slow end of milliseconds
PACE = ("p50", "p10", "p5", "p1")  # the slow end of tok/s
WITH_INTERVAL = {"p95", "p99", "p5", "p1"}
UNFINISHED = ("stopped", "failed", "interrupted")  # states whose message says what went wrong
FOOT = (
    "Percentiles: linear interpolation; [low, high]: 95 % interval, –: no bound from so few.\n"
    "(…): less than one request is expected beyond this percentile; do not quote it alone."
)


def text(shown: Json) -> str:
    """Everything `headway show` prints.  shown: the dict of show.py."""
    levels = [_level(level) for level in shown["levels"]]
    blocks = [_head(shown), *levels, *([FOOT] if levels else [])]
    return "\n\n".join(blocks) + "\n"


def _head(shown: Json) -> str:
    run, validity, slo = shown["run"], shown["validity"], shown["slo"]
    message = run["message"] or ""
    is_early = run["state"] in UNFINISHED or message.startswith(ENDED_BY)
    ended = [("Ended", message)] if message and is_early else []
    judged = [
        ("Validity", f"{validity['verdict']}: {validity['reason']}"),
        ("Verdict", " ".join([shown["verdict"]["text"], *shown["verdict"]["more"]])),
    ]
    lines = [
        ("Run", f"{run['name']}  {run['uid']}  {run['state']}"),
        ("Target", f"{run['target'] or '–'}  {run['model'] or '–'}{_how(run)}"),
        ("Started", run["started_at"] or ("not told" if run["imported"] else "not yet")),
        *([("Imported", message)] if run["imported"] else []),
        *ended,
        *([] if ended and not shown["levels"] else judged),
        *([("Self-test", run["self_test"]["sentence"])] if run["self_test"] else []),
        *(("Search", answer["sentence"]) for answer in shown["search"]),
        *([("Cache", shown["cache"]["sentence"])] if shown["cache"]["contaminated"] else []),
        *(("Note", note) for note in _new_notes(run)),
        ("Outcomes", ", ".join(f"{n:,} {kind}" for kind, n in shown["outcomes"].items()) or "none"),
    ]
    if slo["result"]:
        lines.append(("SLO", "; ".join([slo["result"], *slo["broken"]])))
    lines += [
        ("Failed", f"{f['stage']}: {f['n']:,} {f['outcome']}: {f['detail'] or 'no text'}")
        for f in shown["failures"]
    ]
    return "\n".join(f"{name:<9} {_clean(said)}" for name, said in lines)


def _new_notes(run: Json) -> list[str]:
    """The notes about the run's start that no other line says."""
    said = run["self_test"]["sentence"] if run["self_test"] else ""
    return [note for note in run["notes"] if note != said]


def _how(run: Json) -> str:
    """What is out of the ordinary on the way to the server; "" if nothing."""
    told = [
        "HTTP/2" if run["http"] == "2" else "",
        f"through the proxy {run['proxy']}" if run["proxy"] else "",
        "CERTIFICATE NOT VERIFIED" if run["insecure"] else "",
        "a connection for each request, within its TTFT" if run["connections"] == "cold" else "",
        f"without {', '.join(run['dropped_fields'])}" if run["dropped_fields"] else "",
    ]
    said = ", ".join(part for part in told if part)
    return f"  ({said})" if said else ""


def _level(level: Json) -> str:
    metrics: Json = level["metrics"]
    in_flight, seconds = level["mean_in_flight"], level["window_s"]
    streams = "" if in_flight is None else f"{streams_text(in_flight, 4)} in flight, "
    time = "" if seconds is None else f" in {seconds:,.1f} s"
    n = level["requests"]
    requests = "its requests are not in the file" if n is None else f"{n:,} requests{time}"
    lines = [
        f"{level['name']}: {streams}{requests}",
        f"  {level['window']['reason']}",
        f"  {level['validity']['verdict']}: {level['validity']['reason']}",
        *(f"  ! {_clean(warning)}" for warning in level["warnings"]),
        *([f"  {_clean(said)}"] if (said := _lengths(level)) else []),
        *_checked(level["checks"]),
        *(f"  SLO {slo['sentence']}" for slo in level["slos"]),
        *_table(metrics, "lower", LATENCY),
        *_table(metrics, "higher", PACE),
        *(_failed(METRICS[name], metrics[name]) for name in ("ttft", "e2e")),
        *_worth(metrics),
        _stalls(metrics),
        _system(metrics["tps_system"]),
        _rates(metrics),
    ]
    missing = [
        METRICS[name].title
        for name, found in metrics.items()
        if METRICS[name].is_headline and found.get("n") == 0
    ]
    if missing:
        lines.append(f"  Not defined here: {', '.join(missing)} (docs/metrics.md says when).")
    return "\n".join(line for line in lines if line)


def _checked(checks: Json) -> list[str]:
    """What holds, or why it cannot be told; what does not hold is a warning already."""
    told = [
        sentence if len(titles) == 1 else f"{', '.join(titles)}: {sentence}"
        for titles, holds, sentence in together(checks)
        if holds is not False
    ]
    return [f"  {_clean(said)}" for said in told]


def _lengths(level: Json) -> str:
    """Whether prompts were as long as asked, where no warning says that they were not."""
    said = (level["prompt_lengths"] or {}).get("sentence", "")
    return "" if said in level["warnings"] else said


def _table(metrics: Json, better: str, shown: tuple[str, ...]) -> list[str]:
    """Aligned lines of the metrics with percentiles: name and unit left, numbers right."""
    rows = [_header(shown)]
    for name, found in metrics.items():
        metric = METRICS[name]
        is_shown = metric.is_headline and metric.better == better
        if is_shown and found.get("n") and "p50" in found:
            rows.append(_row(METRICS[name], found, shown))
    if len(rows) == 1:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _header(shown: tuple[str, ...]) -> list[str]:
    figures = [f"{key} [95 % interval]" if key in WITH_INTERVAL else key for key in shown]
    return ["metric", "unit", "n", *figures, "mean"]


def _row(metric: Metric, found: Json, shown: tuple[str, ...]) -> list[str]:
    undefined = f" (+{found['undefined']:,} undefined)" if found["undefined"] else ""
    figures = [
        f"{_thin(found, key)} {_interval(found, key) if key in WITH_INTERVAL else ''}".rstrip()
        for key in shown
    ]
    within = f", within {found['within']:.0%}" if "within" in found else ""
    name = f"{metric.title}{undefined}{within}"
    return [name, metric.unit, f"{found['n']:,}", *figures, _figure(found["mean"])]


def _failed(metric: Metric, found: Json) -> str:
    """The percentiles when a failed request counts as never answered; "" when none failed."""
    if "with_failures" not in found:
        return ""
    told = [f"{key} {_figure(v, 'failed')}" for key, v in found["with_failures"].items()]
    return f"  {metric.title}, each failure as never: {', '.join(told)}"


def _worth(metrics: Json) -> list[str]:
    """Where an interval counts fewer samples than there are: how many, and why."""
    told: dict[str, list[str]] = {}
    for name in ("ttft", "e2e", "itl" if metrics["itl"]["n"] else "chunk_gap"):
        found = metrics[name]
        if "p95" in found.get("n_eff", {}):
            worth = f"{METRICS[name].title} p95 {found['n_eff']['p95']:,} of {found['n']:,}"
            told.setdefault(found["n_eff_reason"], []).append(worth)
    return [f"  n_eff: {', '.join(worths)}. {why}" for why, worths in told.items()]


def _stalls(metrics: Json) -> str:
    shares = [(name, metrics[name]) for name in METRICS if name.startswith("stall_share")]
    if not shares[0][1]["n"]:
        return ""
    told = [f"over {name.rpartition('_')[2]} ms {_figure(f['value'])} %" for name, f in shares]
    return f"  Stalls, of {shares[0][1]['n']:,} gaps of the whole stage: {', '.join(told)}"


def _system(found: Json) -> str:
    interval = found["ci95"]
    extra = f" [{_figure(interval[0])}, {_figure(interval[1])}]" if interval else ""
    why = " ".join(found[key] for key in ("note", "ci95_reason") if key in found)
    return (
        f"  System output TPS: {_figure(found['value'])} tok/s{extra}{f'  ({why})' if why else ''}"
    )


def _rates(metrics: Json) -> str:
    done, offered, good = (
        metrics[name]["value"] for name in ("request_rate", "offered_rate", "goodput")
    )
    share, failed = (metrics[name]["value"] for name in ("goodput_share", "error_rate"))
    told = f"  Requests/s: {_figure(offered)} offered, {_figure(done)} completed"
    if good is not None:
        told += f", {_figure(good)} within every SLO (goodput)"
    shares = [("within every SLO", share), ("failed", failed)]
    said = [f"{_figure(value)} % {what}" for what, value in shares if value is not None]
    return f"{told}; of requests {', '.join(said)}" if said else told


def _thin(found: Json, key: str) -> str:
    share = float(key[1:]) / 100
    figure = _figure(found[key])
    return f"({figure})" if is_thin(found["n"], max(share, 1 - share)) else figure


def _interval(found: Json, key: str) -> str:
    if key not in found["ci95"]:
        return ""
    low, high = found["ci95"][key]
    return f"[{_figure(low)}, {_figure(high)}]"


def _figure(value: float | None, nothing: str = "–") -> str:
    """Four digits at most, none invented; a dash for what does not exist."""
    if value is None:
        return nothing
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 or value == 0 else "< 0.001"


def _clean(said: str) -> str:
    """One line without control characters: an endpoint's text must not drive the terminal."""
    return "".join(c if c.isprintable() else " " for c in said)
