"""What inference-perf prints.  Read: inference_perf/reportgen/base.py (summarize_requests).

Per answer (seconds from the POST, after its worker's semaphore):
- output_token_times: each content chunk's time, once for every token in it; reasoning is none.
- time_to_first_token = the first of them, time_per_output_token = (last − first) / (output tokens
  − 1): both only if there are two of them at least.
- inter_token_latency = differences of output_token_times, pooled: 0 between tokens of one chunk.
- request_latency = end − start, and its end is read after it has re-tokenised the answer.
- normalized_time_per_output_token = request_latency / output tokens.
Over the stage: rates of successes ÷ (last end − first start, failures included); schedule_delay =
start − scheduled, which no latency holds.  numpy's linear percentiles.
Tokens: its own count of the text, the server's on request.
Source: github.com/kubernetes-sigs/inference-perf, 0.5 to 0.7.
"""

from dataclasses import replace

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, known, latest_s, measured, over
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import numpy_linear
from analysis.dialects.sheet import Sheet, Spread, fig
from analysis.dialects.span import length_s, rates
from storage.exchange.answers import Answers, Floats

STATS = (
    ("mean", "mean"),
    ("min", "min"),
    ("max", "max"),
    ("median", "median"),
    *((f"p{p}", f"p{p}") for p in ("0.1", "1", "5", "10", "25", "75", "90", "95", "99", "99.9")),
)
LATENCY = "successes.latency."
WHOLE = "first start to last end, failures included"
NAMES = {
    "requests": "successes.throughput.requests_per_sec",
    "input": "successes.throughput.input_tokens_per_sec",
    "output": "successes.throughput.output_tokens_per_sec",
    "total": "successes.throughput.total_tokens_per_sec",
}


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one stage."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), numpy_linear, STATS)
    seconds = length_s(every, facts)
    _latencies(sheet, every, done)
    rates(sheet, every, seconds, WHOLE, NAMES)
    sheet.value("successes.count", "Successes", "requests", len(done))
    sheet.value("failures.count", "Failures", "requests", len(every) - len(done))
    sheet.value("benchmark_time_seconds", "Benchmark time", "s", seconds, why="First to last.")
    _lengths(sheet, done)
    _load(sheet, every)
    return sheet.lines


def _lengths(sheet: Sheet, done: Cut) -> None:
    for name, title, values in (
        ("prompt_len", "Prompt tokens", done.answers.prompt_tokens),
        ("output_len", "Output tokens", done.answers.output_tokens),
    ):
        sheet.spread(Spread(f"successes.{name}.{{stat}}", title, "tokens", values))


def _load(sheet: Sheet, every: Cut) -> None:
    starts = known(every.answers.start_s)
    lasted = float(np.ptp(starts)) if len(starts) else None
    sheet.value("load_summary.count", "Requests", "requests", len(every))
    sheet.value("load_summary.send_duration", "Send duration", "s", lasted)
    sheet.value(
        "load_summary.achieved_rate",
        "Achieved rate",
        "req/s",
        len(every) / lasted if lasted else None,
        metric="offered_rate",
        why="Requests ÷ first to last send, one interval short; ours by the window.",
    )
    sheet.spread(
        Spread(
            "load_summary.schedule_delay.{stat}",
            "Schedule delay",
            "s",
            every.answers.start_s - every.answers.due_s,
            "send_lag",
            every.answers.start_s - every.answers.due_s,
            missing="Nothing was due by a schedule.",
        )
    )


def _latencies(sheet: Sheet, every: Cut, done: Cut) -> None:
    a = done.answers
    latency = latest_s(a)
    tokens = a.output_tokens
    seen = content(done)
    several = token_times(seen) > 1
    first = np.where(several, first_s(seen), np.nan)
    notes = (why.connect_inside(done), why.from_send(done), why.dropped(every, len(done)))
    single = int(np.sum(~several))
    sheet.spread(
        Spread(
            LATENCY + "time_to_first_token.{stat}",
            "TTFT",
            "s",
            first,
            "ttft",
            a.ttft_s,
            why=_first_why(done, single),
            note=" ".join(filter(None, notes)),
        )
    )
    sheet.spread(
        Spread(
            LATENCY + "time_per_output_token.{stat}",
            "TPOT",
            "s",
            over(a.last_s - first, tokens - 1),
            "tpot",
            done.tpot_s,
            why=" ".join(filter(None, (why.first_chunk_tokens(done), why.no_reasoning(done)))),
            note=" ".join(filter(None, (why.one_token(done), _retokenised(done)))),
        )
    )
    gaps, told = per_token_gaps(seen)
    sheet.spread(
        Spread(
            LATENCY + "inter_token_latency.{stat}",
            "ITL",
            "s",
            gaps,
            "itl",
            done.itl_s[0],
            why=_zeros_why(gaps),
            note=told,
            missing=why.no_chunks(sheet.facts),
            ours_weights=done.itl_s[1],
        )
    )
    sheet.spread(
        Spread(
            LATENCY + "request_latency.{stat}",
            "Request latency",
            "s",
            latency,
            "e2e",
            a.last_s,
            why=_end_why(done),
        )
    )
    sheet.spread(
        Spread(
            LATENCY + "normalized_time_per_output_token.{stat}",
            "NTPOT",
            "s",
            np.where(tokens > 0, over(latency, tokens), 0.0),
            "tpot",
            done.tpot_s,
            why="The whole request ÷ tokens: the wait for the first token is divided in.",
            note=_retokenised(done),
        )
    )


def content(done: Cut) -> Cut:
    """The same answers without the chunks before the first that is no reasoning."""
    a = done.answers
    visible = np.where(np.isnan(a.visible_s), a.ttft_s, a.visible_s)
    if not a.has_chunks or not np.any(visible > a.ttft_s):
        return done
    kept = a.chunk_s >= visible[a.chunk_of]
    columns = {name: getattr(a, name)[kept] for name in ("chunk_of", "chunk_s", "chunk_tokens")}
    return Cut(replace(a, **columns))


def first_s(seen: Cut) -> Floats:
    """First content: no reasoning."""
    a = seen.answers
    return np.where(np.isnan(a.visible_s), a.ttft_s, a.visible_s)


def token_times(seen: Cut) -> Floats:
    """How many token times each answer has: tokens of its content chunks, or its tokens."""
    a = seen.answers
    if not a.has_chunks:
        return np.nan_to_num(a.output_tokens)
    return np.bincount(a.chunk_of, weights=_counts(seen), minlength=len(seen)).astype(float)


def per_token_gaps(seen: Cut) -> tuple[Floats, str]:
    """Its pooled gaps, zeros included, and a sentence where chunks were taken for one token."""
    a = seen.answers
    if not a.has_chunks:
        return np.empty(0), ""
    counts = _counts(seen).astype(int)
    inside = int(np.sum(np.maximum(counts - 1, 0)))
    later = (counts[1:] > 0)[a.chunk_of[1:] == a.chunk_of[:-1]]
    unknown = int(np.isnan(a.chunk_tokens).sum())
    told = (
        f"It would split {unknown:,} chunks by its own tokenizer; here each is one token, for "
        "nobody told."
        if unknown
        else ""
    )
    return np.r_[seen.gaps_s[later], np.zeros(inside)], told


def _counts(seen: Cut) -> Floats:
    found = seen.answers.chunk_tokens
    return np.where(np.isnan(found), 1.0, found)


def _first_why(done: Cut, single: int) -> str:
    told = [why.no_reasoning(done)] if np.any(done.answers.visible_s > done.answers.ttft_s) else []
    if single:
        told.append(f"{single:,} answers with one token time have no TTFT in it.")
    return " ".join(told)


def _zeros_why(gaps: Floats) -> str:
    share = float(np.mean(gaps == 0)) if len(gaps) else 0.0
    if not share:
        return "It counts each gap once; ours spreads a gap over its chunk's tokens."
    return (
        f"Each token of a chunk has the chunk's time: {fig(100 * share)} % of its gaps are 0. Ours "
        "spreads a gap over its chunk's tokens."
    )


def _retokenised(done: Cut) -> str:
    source = done.answers.token_source
    if source in (None, "tokenizer"):
        return ""
    return "It would count tokens by its own tokenizer; these are the server's."


def _end_why(done: Cut) -> str:
    late = known(done.answers.end_s - done.answers.last_s) * 1e3
    if not len(late):
        return ""
    return (
        f"Its clock stops after the end of the stream, {fig(float(np.median(late)))} ms (median) "
        "after the last token; its own re-tokenising comes on top and is not known."
    )


INFERENCE_PERF = Dialect(
    title="inference-perf",
    versions="0.5 to 0.7",
    rule="linear",
    per_token={
        "TPOT": "(last token − first token) ÷ (tokens − 1), per request",
        "NTPOT": "whole request ÷ tokens",
        "ITL": "gap per token, 0 within a chunk",
    },
    numbers=numbers,
)
