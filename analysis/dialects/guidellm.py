"""What GuideLLM prints, from 0.5 on.  Read: schemas/request_stats.py, schemas/statistics.py,
benchmark/schemas/generative/{metrics,accumulator}.py.

Per answer (wall clock, from the request's start; a new connection is within it):
- time_to_first_token_ms = first content, reasoning or tool line; time_to_first_output_token_ms =
  the first that is no reasoning.
- inter_token_latency_ms = (last token − first token) / (output tokens − 1): one mean per request,
  weighted by output tokens − 1.
- time_per_output_token_ms = (last token − START) / output tokens, the wait for the first token
  included; weighted by output tokens.
- request_latency = stream closed − start, seconds.
A value that does not exist counts as 0 with the weight of its request.
Percentiles: inverse distribution, nothing interpolated; mean and deviation weighted, population.
Window: answers that overlap [measure start, measure end], which is all of the level without warm-up
and cool-down.  requests_per_second = ends within it ÷ its length; output_tokens_per_second = tokens
÷ its length (0.8; before, ÷ first to last token), tokens spread evenly between first and last;
request_concurrency = sum of latencies ÷ its length.
Tokens by usage, else by lines.  Source: github.com/vllm-project/guidellm, 0.5 to 0.8.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, cut, known, latest_s, measured, over, total
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import Rule, inverse_cdf
from analysis.dialects.sheet import Sheet, Spread, fig
from analysis.dialects.span import FAILED_COUNT, NO_RATE, per
from storage.exchange.answers import Answers, Floats

STATS = (
    ("mean", "mean"),
    ("median", "median"),
    ("mode", "mode"),
    ("std_dev", "std"),
    ("variance", "variance"),
    ("count", "count"),
    ("total_sum", "sum"),
    ("min", "min"),
    ("max", "max"),
    *((f"percentiles.{name}", key) for name, key in (
        ("p001", "p0.1"), ("p01", "p1"), ("p05", "p5"), ("p10", "p10"), ("p25", "p25"),
        ("p50", "p50"), ("p75", "p75"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"),
        ("p999", "p99.9"),
    )),
)  # fmt: skip
MS = 1e3
RULE = "by the inverse distribution, without interpolation"
WINDOW = ("measure_start_s", "measure_end_s")
FROM_START = (
    "It divides the whole span from the start, the wait for the first token included, by all "
    "tokens: nearer to latency per token than to TPOT."
)


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one level, of its successful requests."""
    return level_lines(answers, facts, Version(tpot_s, FROM_START, inverse_cdf))


def tpot_s(done: Cut) -> Floats:
    """(last token - start) / output tokens; the stream's end where the last token is not known."""
    a = done.answers
    return over(np.where(np.isnan(a.last_s), a.end_s, a.last_s), a.output_tokens)


def itl_s(done: Cut) -> Floats:
    """(last token - first token) / (output tokens - 1)."""
    a = done.answers
    return over(a.last_s - a.ttft_s, a.output_tokens - 1)


@dataclass(frozen=True, slots=True)
class Version:
    """What differs between versions: time per output token (seconds) and why, and its rule."""

    tpot_s: Callable[[Cut], Floats]
    why: str
    rule: Rule


def level_lines(answers: Answers, facts: Facts, version: Version) -> list[Line]:
    """The lines of one level as a version has them."""
    every = within_window(measured(answers))
    done = complete(every)
    sheet = Sheet(facts, len(done), version.rule, STATS, RULE)
    a = done.answers
    n_tokens = np.nan_to_num(a.output_tokens)
    notes = (why.connect_inside(done), why.from_send(done), why.dropped(every, len(done)))
    _first_tokens(sheet, done, " ".join(filter(None, notes)))
    sheet.spread(
        Spread(
            named("inter_token_latency_ms"),
            "ITL",
            "ms",
            zeros(itl_s(done) * MS),
            "tpot",
            done.tpot_s * MS,
            why=_weighted_why(done),
            note=" ".join(filter(None, ("What it calls ITL is our TPOT.", why.one_token(done)))),
            weights=np.maximum(n_tokens - 1, 0),
        )
    )
    sheet.spread(
        Spread(
            named("time_per_output_token_ms"),
            "TPOT",
            "ms",
            zeros(version.tpot_s(done) * MS),
            "tpot",
            done.tpot_s * MS,
            why=version.why,
            note="Weighted by output tokens, where ours counts each request once.",
            weights=n_tokens,
        )
    )
    latency = latest_s(a)
    sheet.spread(
        Spread(
            named("request_latency"),
            "Request latency",
            "s",
            zeros(latency),
            "e2e",
            a.last_s,
            why=_close_why(done),
        )
    )
    for name, title, values in (
        ("prompt_token_count", "Prompt tokens", a.prompt_tokens),
        ("output_token_count", "Output tokens", a.output_tokens),
    ):
        sheet.spread(Spread(named(name), title, "tokens", zeros(values)))
    _rates(sheet, every, done, latency)
    return sheet.lines


def named(name: str) -> str:
    """A statistic of the successful requests, as the file nests it."""
    return f"{name}.successful.{{stat}}"


def zeros(values: Floats) -> Floats:
    """As GuideLLM has it: what does not exist is 0."""
    return np.nan_to_num(values)


def window_of(every: Cut) -> tuple[float, float] | None:
    """The measured window where the file tells one, seconds from the first send."""
    extra = every.answers.extra
    if not all(name in extra for name in WINDOW):
        return None
    begin, end = (extra[name] for name in WINDOW)
    return (float(begin), float(end)) if begin is not None and end is not None else None


def within_window(every: Cut) -> Cut:
    """Those that overlap the measured window: end >= begin of it, start <= end of it."""
    window, a = window_of(every), every.answers
    if window is None:
        return every
    return cut(a, (a.start_s + latest_s(a) >= window[0]) & (a.start_s <= window[1]))


def _first_tokens(sheet: Sheet, done: Cut, note: str) -> None:
    a = done.answers
    n = int(np.isnan(a.ttft_s).sum())
    lost = f"{n:,} answers without a first token count as 0." if n else ""
    sheet.spread(
        Spread(
            named("time_to_first_token_ms"),
            "TTFT",
            "ms",
            zeros(a.ttft_s * MS),
            "ttft",
            a.ttft_s * MS,
            why=lost,
            note=note,
        )
    )
    if np.isnan(a.visible_s).all():
        return
    hidden = int(np.isnan(a.visible_s).sum())
    sheet.spread(
        Spread(
            named("time_to_first_output_token_ms"),
            "TTFOT",
            "ms",
            zeros(a.visible_s * MS),
            "ttft_visible",
            a.visible_s * MS,
            why=f"{hidden:,} answers that never left reasoning count as 0.",
        )
    )


def _rates(sheet: Sheet, every: Cut, done: Cut, latency: Floats) -> None:
    window, a, facts = window_of(every), done.answers, sheet.facts
    seconds = window[1] - window[0] if window else done.span_s
    ends = a.start_s + latency
    inside = (
        np.ones(len(done), bool) if window is None else (ends >= window[0]) & (ends <= window[1])
    )
    told = why.windowed(facts, seconds, "its measured window") if seconds else NO_RATE
    out = total(a.output_tokens)
    for name, title, unit, amount, metric, more in (
        ("requests_per_second", "Requests per second", "req/s", float(inside.sum()),
         "request_rate", ""),
        ("output_tokens_per_second", "Output tokens per second", "tok/s", out, "tps_system",
         FAILED_COUNT if len(done) < len(every) else ""),
        ("request_concurrency", "Concurrency", "streams", total(latency), "mean_in_flight",
         " The sum of successful latencies over it; ours counts every stream."),
    ):  # fmt: skip
        sheet.value(
            f"{name}.successful.mean",
            title,
            unit,
            per(amount, seconds),
            why=f"{told}{more}",
            metric=metric,
        )
    sheet.value("request_totals.successful", "Successful", "requests", len(done))


def _weighted_why(done: Cut) -> str:
    tokens = known(done.answers.output_tokens)
    weights = "Its ITL is a per-request mean weighted by tokens − 1; ours counts each request once."
    if len(tokens) and np.ptp(tokens):
        least, most = fig(float(tokens.min())), fig(float(tokens.max()))
        weights += f" Answers have {least} to {most} tokens."
    return " ".join(filter(None, (weights, why.first_chunk_tokens(done))))


def _close_why(done: Cut) -> str:
    late = (done.answers.end_s - done.answers.last_s) * MS
    if not len(late) or np.isnan(late).all():
        return ""
    return (
        f"Its clock stops when the stream is closed, {fig(float(np.nanmedian(late)))} ms (median) "
        "after the last token."
    )


GUIDELLM = Dialect(
    title="GuideLLM 0.5+",
    versions="0.5.0 to 0.8.1",
    rule="inverse distribution, weighted",
    per_token={
        "TPOT": "(last token − start) ÷ tokens, the wait for the first included; by tokens",
        "ITL": "(last token − first token) ÷ (tokens − 1), per request; by tokens − 1",
    },
    numbers=numbers,
)
