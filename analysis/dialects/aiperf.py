"""What AIPerf prints.  Read: src/aiperf/metrics/types and clients/http/aiohttp_client.py.

Per answer (from the send; a line's time is that of its first byte):
- time_to_first_token = first content, reasoning or tool call; time_to_first_output_token = the
  first that is no reasoning; time_to_second_token = second chunk − first.
- request_latency = last such chunk.  decode_duration = request_latency − time_to_first_token.
- inter_token_latency = decode_duration / (output tokens − tokens in the first chunk, 1 if untold):
  one mean per request, what others call TPOT.  inter_chunk_latency = the gaps, pooled.
- output_token_throughput_per_user = 1 / inter_token_latency; e2e_output_token_throughput = output
  tokens / request_latency; prefill_throughput_per_user = input tokens / time_to_first_token.
Over the level: benchmark_duration = last response − first request; rates divide by the whole run
(0.13: its own end_time − start_time).  Goodput: a request that lacks a number is not good.
numpy's linear percentiles, population standard deviation.  Tokens by its own tokenizer.
Source: github.com/ai-dynamo/aiperf, 2025-10 to 0.13.
"""

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, known, measured, over, total
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import numpy_linear
from analysis.dialects.sheet import Sheet, Spread
from analysis.dialects.span import NO_RATE, NO_TOKENS, length_s, per, rates
from storage.exchange.answers import Answers, Floats

STATS = (
    ("avg", "mean"),
    ("min", "min"),
    ("max", "max"),
    *((f"p{p}", f"p{p}") for p in (1, 5, 10, 25, 50, 75, 90, 95, 99)),
    ("std", "std"),
    ("count", "count"),
    ("sum", "sum"),
)
MS = 1e3
WHOLE = "the whole run, from its first send to its last answer"
NAMES = {
    "requests": "request_throughput.avg",
    "input": "input_token_throughput.avg",
    "output": "output_token_throughput.avg",
    "total": "total_token_throughput.avg",
}
ONE_MEAN = (
    "Its ITL is one mean per request, what others call TPOT. It takes the first chunk for one "
    "token where its tokens are not told."
)


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one level; names as in version 0.13."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), numpy_linear, STATS)
    _first_tokens(sheet, every, done)
    _per_token(sheet, done)
    _lengths(sheet, done)
    seconds = length_s(every, facts)
    a = done.answers
    sheet.value("request_count.avg", "Requests", "requests", len(done))
    sheet.value(
        "benchmark_duration.avg",
        "Benchmark duration",
        "s",
        _responses_s(a),
        why="First send to last response." if a.has_times else NO_RATE,
    )
    for name, title, column in (
        ("total_output_tokens", "Total output tokens without reasoning", spoken(done)),
        ("total_reasoning_tokens", "Total reasoning tokens", a.reasoning_tokens),
        ("total_osl", "Total output tokens", a.output_tokens),
        ("total_isl", "Total input tokens", a.prompt_tokens),
    ):
        amount = total(column)
        told = NO_TOKENS if np.isnan(amount) else ""
        sheet.value(f"{name}.avg", title, "tokens", amount, why=told)
    rates(sheet, every, seconds, WHOLE, NAMES)
    sheet.value(
        "goodput.avg",
        "Goodput",
        "req/s",
        _goodput(done, facts, seconds),
        metric="goodput",
        why=_goodput_why(done, facts, seconds),
    )
    return sheet.lines


def itl_s(done: Cut) -> Floats:
    """decode_duration / (output tokens - tokens in the first chunk); NaN below two tokens."""
    a = done.answers
    first = np.where(np.isnan(done.first_tokens), 1.0, done.first_tokens)
    rest = np.where(a.output_tokens >= 2, a.output_tokens - first, 0.0)
    span = a.last_s - a.ttft_s
    return over(span, rest)


def second_s(done: Cut) -> Floats:
    """Second chunk - first; NaN where there is no second."""
    found = np.full(len(done), np.nan)
    of, first_of_each = np.unique(done.gap_of, return_index=True)
    found[of] = done.gaps_s[first_of_each]
    return found


def _first_tokens(sheet: Sheet, every: Cut, done: Cut) -> None:
    a = done.answers
    told = (why.connect_inside(done), why.from_send(done), why.dropped(every, len(done)))
    note = " ".join(filter(None, told))
    ttft, visible, last = a.ttft_s * MS, a.visible_s * MS, a.last_s * MS
    sheet.spread(Spread("time_to_first_token.{stat}", "TTFT", "ms", ttft, "ttft", ttft, note=note))
    sheet.spread(
        Spread(
            "time_to_first_output_token.{stat}",
            "TTFO",
            "ms",
            visible,
            "ttft_visible",
            visible,
            missing="No answer tells when its first token that is no reasoning came.",
        )
    )
    sheet.spread(
        Spread(
            "time_to_second_token.{stat}",
            "TTST",
            "ms",
            second_s(done) * MS,
            why="Second chunk − first. We have no metric of that name.",
            missing=why.no_chunks(sheet.facts),
        )
    )
    sheet.spread(Spread("request_latency.{stat}", "Request latency", "ms", last, "e2e", last))


def _per_token(sheet: Sheet, done: Cut) -> None:
    a, itl = done.answers, itl_s(done)
    no_itl = "No answer has two tokens and a known number of them."
    sheet.spread(
        Spread(
            "inter_token_latency.{stat}",
            "ITL",
            "ms",
            itl * MS,
            "tpot",
            done.tpot_s * MS,
            why=ONE_MEAN,
            note=" ".join(
                filter(None, ("What it calls ITL is our TPOT.", why.one_token(done), _tokens(done)))
            ),
            missing=no_itl,
        )
    )
    gaps = done.gaps_s * MS
    sheet.spread(
        Spread(
            "inter_chunk_latency.{stat}",
            "ICL",
            "ms",
            gaps,
            "chunk_gap",
            gaps,
            note="What it calls ICL is our chunk gap.",
            missing=why.no_chunks(sheet.facts),
        )
    )
    per_user = over(np.ones(len(done)), itl)
    e2e = over(a.output_tokens, a.last_s)
    for name, title, theirs, metric, ours in (
        ("output_token_throughput_per_user", "TPS per user", per_user, "tps_decode",
         over(np.ones(len(done)), done.tpot_s)),
        ("e2e_output_token_throughput", "TPS end to end", e2e, "tps_e2e", e2e),
    ):  # fmt: skip
        spread = Spread(
            f"{name}.{{stat}}",
            title,
            "tok/s",
            theirs,
            metric,
            ours,
            why=ONE_MEAN,
            note=_tokens(done),
            missing=no_itl,
        )
        sheet.spread(spread)


def _lengths(sheet: Sheet, done: Cut) -> None:
    a = done.answers
    for name, title, unit, values in (
        ("decode_duration", "Decode duration", "ms", (a.last_s - a.ttft_s) * MS),
        ("prefill_throughput_per_user", "Prefill TPS per user", "tok/s",
         over(a.prompt_tokens, a.ttft_s)),
        ("output_sequence_length", "Output length", "tokens", a.output_tokens),
        ("input_sequence_length", "Input length", "tokens", a.prompt_tokens),
        ("output_token_count", "Output tokens without reasoning", "tokens", spoken(done)),
        ("reasoning_token_count", "Reasoning tokens", "tokens", a.reasoning_tokens),
    ):  # fmt: skip
        sheet.spread(
            Spread(f"{name}.{{stat}}", title, unit, values, why="We have no metric of that name.")
        )


def spoken(done: Cut) -> Floats:
    """Output tokens that are no reasoning; NaN for an answer that has none."""
    a = done.answers
    rest = a.output_tokens - np.nan_to_num(a.reasoning_tokens)
    return np.where(rest > 0, rest, np.nan)


def _tokens(done: Cut) -> str:
    """How its tokens are counted, where our records count them otherwise."""
    a = done.answers
    source = a.token_source
    if source == "tokenizer" or source is None:
        return ""
    return "It would count tokens by its own tokenizer; these are the server's."


def _responses_s(a: Answers) -> float | None:
    """First request to last response, of records that tell both."""
    if not a.has_times or not len(known(a.start_s + a.last_s)):
        return None
    return float(np.nanmax(a.start_s + a.last_s) - np.nanmin(a.start_s))


def _goodput(done: Cut, facts: Facts, seconds: float | None) -> float | None:
    if not facts.slos_ms:
        return None
    a = done.answers
    series = {"ttft": a.ttft_s, "tpot": itl_s(done), "e2e": a.last_s}
    good = np.ones(len(done), dtype=bool)
    for name, limit in facts.slos_ms.items():
        if name in series:
            good &= series[name] * MS <= limit  # NaN is not good
    return per(float(good.sum()), seconds)


def _goodput_why(done: Cut, facts: Facts, seconds: float | None) -> str:
    if not facts.slos_ms:
        return "The plan has no objective on TTFT, TPOT or E2E."
    n = int(np.isnan(itl_s(done)).sum()) if "tpot" in facts.slos_ms else 0
    fails = f" {n:,} answers without its ITL are not good; ours leaves the limit out." if n else ""
    return f"{why.windowed(facts, seconds, WHOLE)}{fails}"


AIPERF = Dialect(
    title="AIPerf",
    versions="0.1 of 2025-10 to 0.13",
    rule="linear",
    per_token={
        "ITL": "(last token − first token) ÷ (tokens − tokens in the first chunk), per request",
        "ICL": "gap between chunks, each counts once",
    },
    numbers=numbers,
)
