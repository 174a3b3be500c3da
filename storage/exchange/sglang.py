"""SGLang's bench_serving: one JSON line for each run, arrays only with `--output-details`.

The keys are vLLM's of before; a line is a run of its own, for nothing says that lines are a sweep.
"""

from dataclasses import replace

import numpy as np

from storage.exchange.answers import Answers, ForeignLevel, ForeignRun, answers
from storage.exchange.oddities import OBJECT, TEXT, odd_fields, span
from storage.exchange.source import Json, Source, flat, text
from storage.exchange.vllm_bench import LOAD, NO_REQUESTS, NO_TIMES, load_of, read_answers

SPREAD = (
    "No chunk times: on /generate the tool spreads each gap evenly over its tokens; only their sum "
    "was observed."
)
NO_DONE = (
    "End to end ends at the last token here; the tool's own latency ends with the stream, which "
    "its arrays do not tell."
)
EXPECTED = LOAD | {"backend": TEXT, "tag": TEXT, "server_info": OBJECT}
GENERATE = "sglang"  # the backend that speaks to /generate


def is_it(source: Source) -> bool:
    """Whether the values are results of SGLang's benchmark."""
    return bool(source.objects) and all(
        {"backend", "duration", "completed", "total_output_tokens"} <= found.keys()
        and ("dataset_name" in found or "total_output_tokens_retokenized" in found)
        for found in source.objects
    )


def read(source: Source) -> list[ForeignRun]:
    """One run for each line."""
    return [_run(source, found) for found in source.objects]


def _run(source: Source, found: Json) -> ForeignRun:
    is_detailed = "ttfts" in found
    told = read_answers(source, found) if is_detailed else answers([])
    is_spread = is_detailed and found.get("backend") == GENERATE
    if is_spread:
        told = _without_chunks(told)
    lacks = [] if is_detailed else [NO_REQUESTS]
    lacks += [SPREAD] if is_spread else []
    lacks += [NO_TIMES] if is_detailed and not told.has_times else []
    lacks += odd_fields(found, EXPECTED)
    name, kind, concurrency, rate = load_of(found)
    duration_s = span(found.get("duration"))
    server = found.get("server_info")
    model = text(server.get("model_path")) if isinstance(server, dict) else None
    return ForeignRun(
        tool="sglang",
        version=text(server.get("version")) if isinstance(server, dict) else None,
        name=f"{text(found.get('tag')) or model or 'SGLang'} {name}",
        model=model,
        url=None,
        started_epoch_s=None,
        levels=[ForeignLevel(name, kind, concurrency, rate, told, duration_s, _figures(found))],
        lacks=lacks,
        notes=[NO_DONE] if is_detailed else [],
    )


def _figures(found: Json) -> dict[str, float]:
    """The summary without the server's own settings."""
    return flat({name: value for name, value in found.items() if not isinstance(value, dict)})


def _without_chunks(told: Answers) -> Answers:
    none = np.empty(0)
    return replace(told, chunk_of=none.astype(np.int64), chunk_s=none, chunk_tokens=none)
