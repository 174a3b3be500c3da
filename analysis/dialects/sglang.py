"""What SGLang's benchmark prints.  Read: python/sglang/benchmark/{serving,metrics}.py.

Per answer (seconds from the send, after its semaphore):
- TTFT = first event with content or reasoning − send; a new session, so a connect, each time.
- latency (E2E) = last line that is not empty, usage and [DONE] included, − send.
- TPOT = (latency − TTFT) / (output tokens − 1), answers of one token left out.
- ITL: OpenAI endpoints: each gap between events with text.  /generate: gap ÷ new tokens, as often
  as there are new tokens.
Over the level: rates divide by the run and one call to /server_info after it; concurrency = sum of
latencies ÷ the same.  numpy's linear percentiles, population standard deviation.
Tokens by usage, else as many as were asked for.  An answer without a token counts, with TTFT 0.
Source: github.com/sgl-project/sglang, 2025-09 to 2026-08.  A file tells TTFT and gaps, no latency:
there E2E is TTFT + sum of gaps, and TPOT of it.
"""

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, latest_s, measured, over, total
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import numpy_linear
from analysis.dialects.sheet import Sheet, Spread, fig
from analysis.dialects.span import NO_RATE, length_s, per, prompt_and_output, rates
from storage.exchange.answers import Answers, Floats

STATS = (
    ("mean", "mean"),
    ("median", "median"),
    ("std", "std"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("max", "max"),
)
MS = 1e3
WHOLE = "the whole run, ramp and drain included"
NAMES = {
    "requests": "request_throughput",
    "input": "input_throughput",
    "output": "output_throughput",
    "total": "total_throughput",
}


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one level."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), numpy_linear, STATS)
    a = done.answers
    latency = latest_s(a)
    sheet.spread(
        Spread(
            "{stat}_e2e_latency_ms",
            "E2E latency",
            "ms",
            latency * MS,
            "e2e",
            a.last_s * MS,
            why=_end_why(done),
        )
    )
    first_notes = (why.from_send(done), _lost(every, done))
    sheet.spread(
        Spread(
            "{stat}_ttft_ms",
            "TTFT",
            "ms",
            a.ttft_s * MS,
            "ttft",
            a.ttft_s * MS,
            note=" ".join(filter(None, first_notes)),
            caveat=why.always_connects(done, facts, "SGLang"),
        )
    )
    sheet.spread(
        Spread(
            "{stat}_tpot_ms",
            "TPOT",
            "ms",
            tpot_s(done, latency) * MS,
            "tpot",
            done.tpot_s * MS,
            why=f"Its span ends with the stream, not with the last token. {_first(done)}".strip(),
            note=why.one_token(done),
            missing="No answer has two tokens and a known number of them.",
        )
    )
    sheet.spread(
        Spread(
            "{stat}_itl_ms",
            "ITL",
            "ms",
            done.gaps_s * MS,
            "chunk_gap",
            done.gaps_s * MS,
            note="As on OpenAI endpoints: what it calls ITL there is our chunk gap.",
            missing=why.no_chunks(facts),
        )
    )
    seconds = length_s(every, facts)
    sheet.value("completed", "Completed", "requests", len(done))
    sheet.value("duration", "Duration", "s", seconds, why=f"{WHOLE[0].upper()}{WHOLE[1:]}.")
    prompt_and_output(sheet, a, ("total_input_tokens", "total_output_tokens"))
    rates(sheet, every, seconds, WHOLE, NAMES)
    sheet.value(
        "concurrency",
        "Concurrency",
        "streams",
        per(total(latency), seconds),
        metric="mean_in_flight",
        why="Sum of latencies ÷ duration; ours is measured in the window, failed requests included."
        if seconds
        else NO_RATE,
    )
    return sheet.lines


def tpot_s(done: Cut, latency_s: Floats) -> Floats:
    """(latency - TTFT) / (output tokens - 1); NaN for one token."""
    a = done.answers
    return over(latency_s - a.ttft_s, a.output_tokens - 1)


def _first(done: Cut) -> str:
    return why.first_chunk_tokens(done)


def _end_why(done: Cut) -> str:
    late = (done.answers.end_s - done.answers.last_s) * MS
    if not len(late) or np.isnan(late).all():
        return ""
    return (
        "Its clock stops at the last line ([DONE] or usage): here the end of the stream, "
        f"{fig(float(np.nanmedian(late)))} ms (median) after the last token."
    )


def _lost(every: Cut, done: Cut) -> str:
    empty = sum(outcome == "empty" for outcome in every.answers.outcome)
    lost = why.dropped(every, len(done))
    if not empty:
        return lost
    return f"{lost} It would count {empty:,} empty answers as successes with TTFT 0."


SGLANG = Dialect(
    title="SGLang",
    versions="bench_serving.py and benchmark/serving.py of 2025-09 to 2026-08",
    rule="linear",
    per_token={
        "TPOT": "(end of stream − first token) ÷ (tokens − 1), per request",
        "ITL": "gap between chunks, each counts once",
    },
    numbers=numbers,
)
