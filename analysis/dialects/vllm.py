"""What `vllm bench serve` prints.  Read: benchmarks/serve.py and lib/endpoint_request_func.py.

Per answer that came whole (seconds):
- TTFT = first event with choices − send, whatever it holds: a role-only chunk is the first one.
- ITL = each gap between successive events with choices, pooled; a gap counts once, whatever tokens
  it brought.  An empty last chunk closes a gap too.
- E2EL = last event with choices − send.
- TPOT = (E2EL − TTFT) / (output tokens − 1); answers of one token have none, and pass as 0 in its
  goodput.
Over the level: rates divide by the whole run, drain included; goodput = answers with TTFT, TPOT
and E2EL within their limits ÷ the same; `max_output_tokens_per_s` = the most chunks in a second
from the first send; `max_concurrent_requests` = the most answers that touch one such second.
numpy's linear percentiles, population standard deviation.  Tokens by usage, else by tokenizer.
Source: github.com/vllm-project/vllm, vllm/benchmarks, 2025-03 to 0.32.
"""

import numpy as np

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, known, measured, over
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import numpy_linear
from analysis.dialects.sheet import Sheet, Spread, fig
from analysis.dialects.span import length_s, per, prompt_and_output, rates
from storage.exchange.answers import Answers, Floats

STATS = (
    ("mean", "mean"),
    ("median", "median"),
    ("std", "std"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
)
MS = 1e3
WHOLE = "the whole run, ramp and drain included"
NAMES = {
    "requests": "request_throughput",
    "output": "output_throughput",
    "total": "total_token_throughput",
}


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool prints for one level."""
    every = measured(answers)
    done = complete(every)
    sheet = Sheet(facts, len(done), numpy_linear, STATS)
    a = done.answers
    first, tpot = first_s(done), tpot_s(done)
    lost = why.dropped(every, len(done))
    sheet.spread(
        Spread(
            "{stat}_ttft_ms",
            "TTFT",
            "ms",
            first * MS,
            "ttft",
            a.ttft_s * MS,
            why=_first_why(done),
            note=" ".join(filter(None, (why.connect_inside(done), why.from_send(done), lost))),
            caveat=_role_caveat(done),
        )
    )
    sheet.spread(
        Spread(
            "{stat}_tpot_ms",
            "TPOT",
            "ms",
            tpot * MS,
            "tpot",
            done.tpot_s * MS,
            why=_tpot_why(done),
            note=why.one_token(done),
            caveat=_role_caveat(done),
            missing="No answer has two tokens and a known number of them.",
        )
    )
    gaps = done.gaps_s * MS
    sheet.spread(
        Spread(
            "{stat}_itl_ms",
            "ITL",
            "ms",
            gaps,
            "chunk_gap",
            gaps,
            note="What it calls ITL is our chunk gap.",
            caveat=_left_out(done),
            missing=why.no_chunks(facts),
        )
    )
    sheet.spread(
        Spread(
            "{stat}_e2el_ms", "E2EL", "ms", a.last_s * MS, "e2e", a.last_s * MS, caveat=_end(done)
        )
    )
    _rates(sheet, every, done, tpot)
    return sheet.lines


def first_s(done: Cut) -> Floats:
    """First event of any kind, the first token where no earlier one is known; seconds from send."""
    a = done.answers
    return np.where(np.isnan(a.first_chunk_s), a.ttft_s, a.first_chunk_s)


def tpot_s(done: Cut) -> Floats:
    """(E2EL - TTFT) / (output tokens - 1); NaN for one token."""
    a = done.answers
    return over(a.last_s - first_s(done), a.output_tokens - 1)


def _rates(sheet: Sheet, every: Cut, done: Cut, tpot: Floats) -> None:
    facts = sheet.facts
    seconds = length_s(every, facts)
    sheet.value("completed", "Completed", "requests", len(done))
    sheet.value("failed", "Failed", "requests", len(every) - len(done))
    sheet.value("duration", "Duration", "s", seconds, why=f"{WHOLE[0].upper()}{WHOLE[1:]}.")
    prompt_and_output(sheet, done.answers, ("total_input_tokens", "total_output_tokens"))
    rates(sheet, every, seconds, WHOLE, NAMES)
    sheet.value(
        "request_goodput",
        "Goodput",
        "req/s",
        _goodput(done, facts, tpot, seconds),
        why=_goodput_why(done, facts, seconds),
        metric="goodput",
    )
    _peaks(sheet, done)


def _peaks(sheet: Sheet, done: Cut) -> None:
    a = done.answers
    no_times = "No start times: no second can be counted."
    most = at_once = None
    if a.has_times and len(done):
        begin = a.start_s - np.nanmin(a.start_s)
        end = begin + a.last_s
        seconds = int(np.ceil(np.nanmax(end))) + 1
        if a.has_chunks:
            at = (begin[a.chunk_of] + a.chunk_s).astype(int)
            most = float(np.bincount(at, minlength=seconds).max())
        low, high = begin.astype(int), end.astype(int)
        steps = np.bincount(low, minlength=seconds + 2).astype(float)
        steps[: seconds + 2] -= np.bincount(high + 1, minlength=seconds + 2)[: seconds + 2]
        at_once = float(np.cumsum(steps).max())
    chunks = why.no_chunks(sheet.facts) if a.has_times else no_times
    sheet.value(
        "max_output_tokens_per_s",
        "Peak output tokens per second",
        "tok/s",
        most,
        why=chunks if most is None else "Chunks, not tokens, of the fullest second.",
    )
    sheet.value(
        "max_concurrent_requests",
        "Peak concurrent requests",
        "requests",
        at_once,
        why=no_times
        if at_once is None
        else "Answers that touch one second: one that ends in it and the next both count.",
    )


def _goodput(done: Cut, facts: Facts, tpot: Floats, seconds: float | None) -> float | None:
    if not facts.slos_ms:
        return None
    a = done.answers
    series = {"ttft": first_s(done), "tpot": np.nan_to_num(tpot), "e2e": a.last_s}
    good = np.ones(len(done), dtype=bool)
    for name, limit in facts.slos_ms.items():
        if name in series:
            good &= series[name] * MS <= limit
    return per(float(good.sum()), seconds)


def _goodput_why(done: Cut, facts: Facts, seconds: float | None) -> str:
    if not facts.slos_ms:
        return "The plan has no objective on TTFT, TPOT or E2E."
    n = int(np.sum(done.answers.output_tokens <= 1))
    passes = f" {n:,} answers of one token pass its TPOT limit as 0." if n else ""
    return f"{why.windowed(facts, seconds, WHOLE)}{passes}"


def _first_why(done: Cut) -> str:
    earlier = known(done.answers.ttft_s - done.answers.first_chunk_s)
    n = int(np.sum(earlier > 0))
    if not n:
        return ""
    median = fig(float(np.median(earlier[earlier > 0])) * MS)
    return (
        f"Its clock stops at the first event of any kind, in {n:,} answers {median} ms (median) "
        "before the first token."
    )


def _role_caveat(done: Cut) -> str:
    """Of our own records, which count role-only chunks and do not keep their times."""
    role, head = why.told(done, "role"), why.told(done, "head_s")
    n = int(np.sum(role > 0)) if role is not None else 0
    earliest = known(done.answers.ttft_s - head) if head is not None else np.empty(0)
    if not n or not len(earliest):
        return ""
    return (
        f"Its clock would stop at the role-only chunk that {n:,} answers began with. When it came "
        "is not kept: shown as if with the first token, as vLLM's own server sends it; at the "
        f"earliest with the response's head, {fig(float(np.median(earliest)) * MS)} ms (median) "
        "before."
    )


def _tpot_why(done: Cut) -> str:
    earlier = known(done.answers.ttft_s - done.answers.first_chunk_s)
    told = [why.first_chunk_tokens(done)]
    if np.any(earlier > 0):
        told.append(
            "Its span begins at the first event, not at the first token, yet is divided by "
            "tokens − 1."
        )
    return " ".join(filter(None, told)) or "It divides by tokens − 1."


def _left_out(done: Cut) -> str:
    """The gaps that vLLM would have and our records do not."""
    role, finish = why.told(done, "role"), why.told(done, "finish")
    if role is None or finish is None:
        return ""
    n = int(np.sum(role > 0) + np.sum(finish > 0))
    if not n:
        return ""
    return (
        f"Its list would hold {n:,} gaps more, to and from chunks without a token (role-only, "
        "last); when those came is not kept."
    )


def _end(done: Cut) -> str:
    finish, close = why.told(done, "finish"), why.told(done, "close_s")
    if finish is None or close is None or not np.any(finish > 0):
        return ""
    late = fig(float(np.nanmax(close)) * MS)
    return (
        "Its clock would stop at the last chunk without a token, which is not kept: at most "
        f"{late} ms later."
    )


VLLM = Dialect(
    title="vLLM bench",
    versions="benchmark_serving.py of 2025-03 to vllm bench serve 0.32",
    rule="linear",
    per_token={
        "TPOT": "(E2EL − TTFT) ÷ (tokens − 1), per request",
        "ITL": "gap between chunks, each counts once",
    },
    numbers=numbers,
)
