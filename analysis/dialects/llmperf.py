"""What llmperf prints.  Read: openai_chat_completions_client.py, token_benchmark_ray.py.

Per answer (seconds from the call; requests opens a connection each time):
- ttft_s = first content; reasoning is none.  end_to_end_latency_s = stream closed.
- inter_token_latency_s = sum of the gaps between contents, the wait for the first included, ÷
  output tokens: that is last content ÷ output tokens, neither ITL nor TPOT.
- request_output_throughput_token_per_s = output tokens ÷ end_to_end_latency_s; in older versions
  lines received ÷ the same, which a file tells.
Over the level: rates divide by the whole run; closed loop only.  pandas: linear quantiles, sample
deviation (n − 1).  Tokens by one tokenizer.  A chunk with usage and no choices is an error to it.
Source: github.com/ray-project/llmperf, 2024-06 (checked on files of a fork of then).
"""

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, latest_s, measured, over, total
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import pandas_linear
from analysis.dialects.sheet import Sheet, Spread, fig
from analysis.dialects.span import NO_RATE, length_s, per
from storage.exchange.answers import Answers, Floats

STATS = (
    *((f"quantiles_p{p}", f"p{p}") for p in (25, 50, 75, 90, 95, 99)),
    ("mean", "mean"),
    ("min", "min"),
    ("max", "max"),
    ("stddev", "std"),
)
ITL = "inter_token_latency_s"
TPS = "request_output_throughput_token_per_s"
WHOLE = "the whole run"


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one level."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), pandas_linear, STATS)
    a = done.answers
    latency, tokens = latest_s(a), a.output_tokens
    visible = np.where(np.isnan(a.visible_s), a.ttft_s, a.visible_s)
    notes = (why.from_send(done), _errors(every, done))
    spreads = (
        Spread(
            "results_ttft_s_{stat}",
            "TTFT",
            "s",
            visible,
            "ttft",
            a.ttft_s,
            why=why.no_reasoning(done),
            note=" ".join(filter(None, notes)),
            caveat=why.always_connects(done, facts, "llmperf"),
        ),
        Spread(
            "results_inter_token_latency_s_{stat}",
            "ITL",
            "s",
            itl_s(done),
            "tpot",
            done.tpot_s,
            why="Last content ÷ tokens: the wait for the first token is divided in.",
            note=why.one_token(done),
        ),
        Spread(
            "results_end_to_end_latency_s_{stat}",
            "E2E latency",
            "s",
            latency,
            "e2e",
            a.last_s,
            why=_close_why(done),
        ),
        Spread(
            "results_request_output_throughput_token_per_s_{stat}",
            "Request output throughput",
            "tok/s",
            throughput(done, latency),
            "tps_e2e",
            over(tokens, a.last_s),
            why=_throughput_why(done),
        ),
        Spread("results_number_input_tokens_{stat}", "Input tokens", "tokens", a.prompt_tokens),
        Spread("results_number_output_tokens_{stat}", "Output tokens", "tokens", tokens),
    )
    for spread in spreads:
        sheet.spread(spread)
    _totals(sheet, every, done)
    return sheet.lines


def itl_s(done: Cut) -> Floats:
    """Last content / output tokens, as the file tells it where it does."""
    told = done.answers.extra.get(ITL)
    if told is not None:
        return told
    return over(done.answers.last_s, done.answers.output_tokens)


def throughput(done: Cut, latency_s: Floats) -> Floats:
    """Output tokens / latency, as the file tells it where it does."""
    told = done.answers.extra.get(TPS)
    return over(done.answers.output_tokens, latency_s) if told is None else told


def _totals(sheet: Sheet, every: Cut, done: Cut) -> None:
    seconds = length_s(every, sheet.facts)
    told = why.windowed(sheet.facts, seconds, WHOLE) if seconds else NO_RATE
    sheet.value("results_num_requests_started", "Started", "requests", len(every))
    sheet.value("results_num_completed_requests", "Completed", "requests", len(done))
    sheet.value("results_number_errors", "Errors", "requests", len(every) - len(done))
    failed = (len(every) - len(done)) / len(every) if len(every) else None
    sheet.value("results_error_rate", "Error rate", "", failed)
    sheet.value(
        "results_num_completed_requests_per_min",
        "Completed per minute",
        "req/min",
        per(60 * len(done), seconds),
        why=told,
    )
    sheet.value(
        "results_mean_output_throughput_token_per_s",
        "Output throughput",
        "tok/s",
        per(total(done.answers.output_tokens), seconds),
        why=told,
        metric="tps_system",
    )


def _errors(every: Cut, done: Cut) -> str:
    lost = why.dropped(every, len(done))
    usage = why.told(done, "usage")
    n = int(np.sum(usage > 0)) if usage is not None else 0
    if not n:
        return lost
    return (
        f"{lost} {n:,} answers carry a usage chunk without choices: it does not ask for one, and "
        "would count such an answer as an error."
    ).strip()


def _throughput_why(done: Cut) -> str:
    if TPS in done.answers.extra:
        return "This version counts the lines it received, not tokens."
    return "It divides by the time until the stream is closed."


def _close_why(done: Cut) -> str:
    late = (done.answers.end_s - done.answers.last_s) * 1e3
    if not len(late) or np.isnan(late).all():
        return ""
    return (
        f"Its clock stops when the stream is closed, {fig(float(np.nanmedian(late)))} ms (median) "
        "after the last token."
    )


LLMPERF = Dialect(
    title="llmperf",
    versions="2024-06",
    rule="linear; sample deviation",
    per_token={"ITL": "last token ÷ tokens, the wait for the first included"},
    numbers=numbers,
)
