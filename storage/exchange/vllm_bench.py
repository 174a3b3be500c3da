"""`vllm bench serve --save-result --save-detailed`, and benchmark_serving.py of before.

Three schemas are told apart by their arrays: old (ttfts and itls), intermediate (start_times too),
current (latencies and queue_times too).
"""

import math
from typing import Any

import numpy as np

from storage.exchange.answers import Answers, Floats, ForeignLevel, ForeignRun, Ints, answers
from storage.exchange.oddities import COUNT, DATE, NUMBER, RATE, SPAN, TEXT, odd_fields, span
from storage.exchange.outcomes import detail_of, outcome_of
from storage.exchange.source import (
    MOST_TOKENS,
    Json,
    Source,
    column,
    field_of,
    finite,
    flat,
    nested,
    text,
    whole,
)

NO_TIMES = "No start times: there is no time line, no concurrency and no throughput over time."
NO_REQUESTS = "Only the tool's summary: the file has no single requests (saved without details)."
ANY_CHUNK = (
    "The tool's TTFT ends at the first chunk of any kind, also one that names the role alone or "
    "holds no text; the file does not tell which chunks held tokens."
)
ARRAYS = ("input_lens", "output_lens", "ttfts", "itls")
LOAD = {"request_rate": RATE, "max_concurrency": COUNT, "duration": SPAN, "completed": NUMBER}
EXPECTED = LOAD | {
    "model_id": TEXT,
    "label": TEXT,
    "base_url": TEXT,
    "num_prompts": COUNT,
    "date": DATE,
}
EXTRA_COLUMNS = ("latencies", "start_times", "queue_times")


def is_it(source: Source) -> bool:
    """Whether the values are results of vLLM's benchmark."""
    return bool(source.objects) and all(
        {"model_id", "num_prompts", "duration"} <= found.keys() for found in source.objects
    )


def read(source: Source) -> list[ForeignRun]:
    """One run for each result in the file (`--append-result` writes one a line)."""
    return [_run(source, found) for found in source.objects]


def _run(source: Source, found: Json) -> ForeignRun:
    is_detailed = any(name in found for name in ("ttfts", "itls"))
    told = read_answers(source, found) if is_detailed else answers([])
    lacks = [] if is_detailed else [NO_REQUESTS]
    if is_detailed and not told.has_times:
        lacks.append(NO_TIMES)
    name, kind, concurrency, rate = load_of(found)
    model = text(found.get("model_id"))
    lacks += odd_fields(found, EXPECTED)
    return ForeignRun(
        tool="vllm_bench",
        version=_schema(found),
        name=f"{text(found.get('label')) or model or 'vLLM'} {name}",
        model=model,
        url=text(found.get("base_url")),
        started_epoch_s=None,  # `date` is local time without a zone, and of the end
        levels=[
            ForeignLevel(
                name, kind, concurrency, rate, told, span(found.get("duration")), flat(found)
            )
        ],
        lacks=lacks,
        notes=_notes(found, told),
    )


def _schema(found: Json) -> str:
    if "latencies" in found:
        return "current schema"
    if "start_times" in found:
        return "intermediate schema"
    return "old schema" if "ttfts" in found else "summary"


def load_of(found: Json) -> tuple[str, str, int | None, float | None]:
    """Name, kind, concurrency and rate of the load, as vLLM's and SGLang's results tell it."""
    rate, streams = span(found.get("request_rate")), whole(found.get("max_concurrency"))
    if rate is not None:
        return f"{rate:g}/s" + (f", at most {streams}" if streams else ""), "open", streams, rate
    return (f"c={streams}" if streams else "all at once"), "closed", streams, None


def read_answers(source: Source, found: Json) -> Answers:
    """The requests of one result; raises ImportProblem where arrays are odd or differ in length."""
    lists = {name: field_of(source, found, name, list) for name in ARRAYS}
    for name in (*EXTRA_COLUMNS, "errors"):
        if found.get(name) is not None:
            lists[name] = field_of(source, found, name, list)
    n = len(lists["ttfts"])
    for name, values in lists.items():
        if len(values) != n:
            raise source.problem(
                f"{name} has {len(values):,} entries, and ttfts has {n:,}; expected one a request."
            )
    counts = [column(source, name, lists[name], MOST_TOKENS) for name in ARRAYS[:2]]
    ttft_s = column(source, "ttfts", lists["ttfts"])
    gaps_s, n_gaps = nested(source, "itls", lists["itls"])
    told = {
        name: column(source, name, lists[name], 1e12) for name in EXTRA_COLUMNS if name in lists
    }
    errors = [_said(error) for error in lists.get("errors", [""] * n)]
    outcome = [
        _outcome(*row) for row in zip(errors, counts[1].tolist(), ttft_s.tolist(), strict=True)
    ]
    is_ok = np.array([ended == "complete" for ended in outcome], dtype=bool)
    # A failed request has ttft 0 and no token where it failed before its first chunk.
    began = is_ok | (ttft_s > 0)
    ttft_s = np.where(began, ttft_s, np.nan)
    chunk_of, chunk_s = chunks(ttft_s, gaps_s, n_gaps)
    last_s = last_of(chunk_of, chunk_s, n)
    latency_s = told.get("latencies", last_s)
    start_s = told.get("start_times")
    return answers(
        outcome,
        start_s=_from_first(start_s, n),
        first_chunk_s=ttft_s,
        ttft_s=ttft_s,
        last_s=np.where(is_ok, latency_s, last_s),
        prompt_tokens=counts[0],
        output_tokens=np.where(is_ok, counts[1], np.nan),
        chunk_of=chunk_of,
        chunk_s=chunk_s,
        detail=[detail_of(said) for said in errors],
        extra={"gaps_s": gaps_s, "n_gaps": n_gaps, "has_latencies": "latencies" in told},
        more={"queue_s": told["queue_times"]} if "queue_times" in told else {},
    )


def _from_first(start_s: Floats | None, n: int) -> Floats:
    """Starts counted from the first of them; NaN where none is told."""
    if start_s is None or np.isnan(start_s).all():
        return np.full(n, np.nan)
    return start_s - np.nanmin(start_s)


def _said(error: Any) -> str:
    return error if isinstance(error, str) else ""


def _outcome(said: str, output_tokens: float, ttft_s: float) -> str:
    if said.strip():
        return outcome_of(said)
    if output_tokens > 0:
        return "complete"
    return "empty" if ttft_s > 0 else "http_error"


def chunks(ttft_s: Floats, gaps_s: Floats, n_gaps: Ints) -> tuple[Ints, Floats]:
    """(index of each chunk's request, its arrival from the send), from first chunk and gaps.

    A request whose ttft is NaN has no chunk, whatever its gaps say.
    """
    ends = np.cumsum(n_gaps).tolist()
    arrivals = [
        np.cumsum([first_s, *gaps_s[end - n : end].tolist()])
        for first_s, n, end in zip(ttft_s.tolist(), n_gaps.tolist(), ends, strict=True)
        if not math.isnan(first_s)
    ]
    per = np.where(np.isnan(ttft_s), 0, n_gaps + 1)
    chunk_of = np.repeat(np.arange(len(ttft_s), dtype=np.int64), per)
    return chunk_of, np.concatenate([np.empty(0), *arrivals])


def last_of(chunk_of: Ints, chunk_s: Floats, n: int) -> Floats:
    """Arrival of each request's last chunk; NaN where it has none."""
    last_s = np.full(n, np.nan)
    last_s[chunk_of] = chunk_s  # of several values for one place numpy keeps the last
    return last_s


def _notes(found: Json, told: Answers) -> list[str]:
    said = [ANY_CHUNK] if told.has_chunks else []
    per = np.bincount(told.chunk_of, minlength=len(told))
    is_ok = np.array([ended == "complete" for ended in told.outcome], dtype=bool)
    if odd := int((per[is_ok] != told.output_tokens[is_ok]).sum()) if told.has_chunks else 0:
        said.append(
            f"{odd:,} of {int(is_ok.sum()):,} answers came in another number of chunks than of "
            "tokens: their gaps are chunk gaps, not ITL per token."
        )
    completed = finite(found.get("completed"))
    if len(told) and completed is not None and completed != is_ok.sum():
        said.append(
            f"The tool counts {completed:,.0f} completed requests; {int(is_ok.sum()):,} have an "
            "answer with tokens and no error."
        )
    return said
