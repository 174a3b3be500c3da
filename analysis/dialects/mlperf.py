"""What MLPerf's LoadGen would report for an LLM in the server scenario.  Read: loadgen/results.cc,
logging.cc, loadgen.cc, early_stopping.cc.

Per sample, integer nanoseconds from the SCHEDULED instant: latency = last token, first token
latency = first token.  TPOT = (latency − first token latency) / (tokens − 1), whole ns; a sample
of one token is an error.  Percentile p = sorted[floor(n p)]; its means are cut to whole ns, these
are not.
Rates: completed samples per second = (n − 1) ÷ last completion since the start, tokens per second =
tokens ÷ the same.  A sample that fails makes the run invalid, as do less than 600 s, and p99 of
first token latency or TPOT above the limits.
Source: github.com/mlcommons/inference, loadgen of 2024-02 to 2026.
"""

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, measured, over, total
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import floor_rank
from analysis.dialects.sheet import Sheet, Spread, fig
from storage.exchange.answers import Answers, Floats

STATS = (
    ("min", "min"),
    ("max", "max"),
    ("mean", "mean"),
    ("50.00_percentile", "p50"),
    ("90.00_percentile", "p90"),
    ("95.00_percentile", "p95"),
    ("97.00_percentile", "p97"),
    ("99.00_percentile", "p99"),
    ("99.90_percentile", "p99.9"),
)
NS = 1e9
SHORTEST_S = 600.0
RULE = "as sorted[⌊n·p⌋]"
NOT_DUE = "Nothing was due: MLPerf counts from the schedule, and a closed loop has none."


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """The numbers of its detail log for one level."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), floor_rank, STATS, RULE)
    a = done.answers
    wait = a.start_s - a.due_s  # from the schedule to the send
    first, last = whole_ns(wait + a.ttft_s), whole_ns(wait + a.last_s)
    lag = _lag(wait)
    sheet.spread(
        Spread(
            "result_first_token_{stat}_latency_ns",
            "First token latency",
            "ns",
            first,
            "ttft",
            a.ttft_s * NS,
            why=f"Counted from the schedule, ours from the send{lag}; whole ns.",
            missing=NOT_DUE,
        )
    )
    sheet.spread(
        Spread(
            "result_time_per_output_token_{stat}_ns",
            "TPOT",
            "ns",
            tpot_ns(done),
            "tpot",
            done.tpot_s * NS,
            why=" ".join(filter(None, (why.first_chunk_tokens(done), "Whole ns, rounded down."))),
            note=_one_token(done),
            missing="No answer has two tokens and a known number of them.",
        )
    )
    sheet.spread(
        Spread(
            "result_{stat}_latency_ns",
            "Latency",
            "ns",
            last,
            "e2e",
            a.last_s * NS,
            why=f"Counted from the schedule, ours from the send{lag}; whole ns.",
            missing=NOT_DUE,
        )
    )
    _rates(sheet, every, done)
    return sheet.lines


def whole_ns(seconds: Floats) -> Floats:
    """Whole nanoseconds of spans in seconds; NaN stays."""
    return np.round(seconds * NS)


def tpot_ns(done: Cut) -> Floats:
    """(latency - first token latency) // (tokens - 1); NaN for one token.

    The schedule drops out of the difference, so a closed loop has it too.
    """
    a = done.answers
    return np.floor(over(whole_ns(a.last_s) - whole_ns(a.ttft_s), a.output_tokens - 1))


def _rates(sheet: Sheet, every: Cut, done: Cut) -> None:
    a = done.answers
    seconds = None
    if a.has_times and len(done):
        seconds = float(np.nanmax(a.start_s + a.last_s) - np.nanmin(_asked(every)))
    told = why.windowed(sheet.facts, seconds, "the time until the last sample was complete")
    for name, title, unit, amount, metric in (
        ("result_completed_samples_per_sec", "Completed samples", "req/s", len(done) - 1,
         "request_rate"),
        ("result_completed_tokens_per_second", "Completed tokens", "tok/s",
         total(a.output_tokens), "tps_system"),
    ):  # fmt: skip
        sheet.value(
            name,
            title,
            unit,
            amount / seconds if seconds else None,
            why=told if seconds else "No start times: there is no rate.",
            metric=metric,
        )
    sheet.value("result_validity", "Valid", "", None, why=_validity(sheet, every, done))


def _validity(sheet: Sheet, every: Cut, done: Cut) -> str:
    """Whether it would call the level valid, and why not."""
    against: list[str] = []
    due = every.answers.due_s
    if np.isnan(due).all():
        against.append("it has no schedule")
    elif (span := float(np.nanmax(due) - np.nanmin(due))) < SHORTEST_S:
        against.append(f"its schedule lasts {fig(span)} s, and 600 s are required")
    if len(done) < len(every):
        against.append(f"{len(every) - len(done):,} requests failed")
    single = int(np.sum(done.answers.output_tokens <= 1))
    if single:
        against.append(f"{single:,} answers had one token, which is an error to it")
    for name, limit in (sheet.facts.slos_ms or {}).items():
        metric = {"ttft": "First token latency", "tpot": "TPOT"}.get(name)
        p99 = next(
            (line.theirs for line in sheet.lines
             if line.title == metric and line.stat.startswith("99.00")), None)  # fmt: skip
        if p99 is not None and p99 > limit * 1e6:
            against.append(f"p99 of {metric} is {fig(p99 / 1e6)} ms, and {fig(limit)} are allowed")
    if against:
        return f"INVALID: {'; '.join(against)}."
    return "Nothing here speaks against it; early stopping was not computed."


def _asked(every: Cut) -> Floats:
    a = every.answers
    return np.where(np.isnan(a.due_s), a.start_s, a.due_s)


def _lag(wait: Floats) -> str:
    there = wait[~np.isnan(wait)]
    if not len(there):
        return ""
    return f" (p99 of the wait between: {fig(float(np.percentile(there, 99)) * 1e3)} ms)"


def _one_token(done: Cut) -> str:
    told = why.one_token(done)
    return f"{told} An error to it." if told else ""


MLPERF = Dialect(
    title="MLPerf LoadGen",
    versions="loadgen of 2024-02 to 2026, server scenario with token latencies",
    rule="sorted[⌊n·p⌋]",
    per_token={"TPOT": "(latency − first token latency) ÷ (tokens − 1), whole ns"},
    numbers=numbers,
)
