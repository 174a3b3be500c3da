"""inference-perf: per_request_lifecycle_metrics.json with stage and summary files beside it.

Without the requests the summaries alone are read.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from storage.exchange.answers import Answers, ForeignLevel, ForeignRun, answers
from storage.exchange.oddities import COUNT, RATE, SPAN, odd_fields, span
from storage.exchange.outcomes import detail_of, outcome_of
from storage.exchange.source import (
    MOST_TOKENS,
    ImportProblem,
    Json,
    Source,
    column,
    finite,
    flat,
    load,
    part,
    whole,
)

REQUESTS, SUMMARY = "per_request_lifecycle_metrics.json", "summary_lifecycle_metrics.json"
STAGE = re.compile(r"(.*)stage_(\d+)(_lifecycle_metrics)?\.json")
NO_REQUESTS = "Only the tool's summaries: per_request_lifecycle_metrics.json is not beside them."
NO_STAGES = "No stage files: how much load was asked for is not told."
TOKENIZED = (
    "The tool counts tokens with its own tokenizer, and ends a request after it has counted them."
)
NO_REASONING = "The tool sees no reasoning: its first token is the first of the answer's text."


def is_it(source: Source) -> bool:
    """Whether these are inference-perf's requests or one of its summaries."""
    found = source.document
    if isinstance(found, list):
        return bool(found) and all(
            isinstance(one, dict) and {"start_time", "end_time", "info"} <= one.keys()
            for one in found
        )
    return isinstance(found, dict) and {"load_summary", "successes", "failures"} <= found.keys()


def primary(path: Path) -> Path:
    """The requests beside a stage or summary file, else the summary, else the file itself."""
    prefix = _prefix(path)
    beside = [path.with_name(prefix + name) for name in (REQUESTS, SUMMARY)]
    return next((found for found in beside if found.is_file()), path)


def _prefix(path: Path) -> str:
    if found := STAGE.fullmatch(path.name):
        return found[1]
    return path.name.removesuffix(REQUESTS).removesuffix(SUMMARY)


def read(source: Source) -> list[ForeignRun]:
    """The one run of all files with the same beginning."""
    stages = _stage_files(source.path)
    summary = _beside(source.path.with_name(_prefix(source.path) + SUMMARY))
    if isinstance(source.document, dict):
        found = stages or {0: source.document}
        levels = [_level(stage, told, answers([])) for stage, told in sorted(found.items())]
        return [_run(levels, summary or source.document, [NO_REQUESTS, *_odd(found)], [])]
    requests = sorted(source.document, key=lambda one: finite(one["start_time"]) or 0.0)
    starts = column(source, "start_time", [one["start_time"] for one in requests], 1e12)
    zero_s = 0.0 if np.isnan(starts).all() else float(np.nanmin(starts))
    of_stage = _stages_of(requests, stages)
    levels = [
        _level(
            stage,
            stages.get(stage, {}),
            _answers(source, [requests[i] for i in members], zero_s, _is_open(stages, stage)),
        )
        for stage, members in of_stage.items()
    ]
    notes = [TOKENIZED, NO_REASONING]
    lacks = [*([] if stages else [NO_STAGES]), *_odd(stages)]
    return [_run(levels, summary, lacks, notes)]


ASKED = {"concurrency": COUNT, "requested_rate": RATE}


def _run(
    levels: list[ForeignLevel], summary: Json, lacks: list[str], notes: list[str]
) -> ForeignRun:
    return ForeignRun(
        tool="inference_perf",
        version=None,
        name="inference-perf " + ", ".join(level.name for level in levels[:3]),
        model=None,
        url=None,
        started_epoch_s=None,  # its clock counts from nothing in particular
        levels=levels,
        lacks=lacks,
        notes=notes,
        reported=flat(summary),
    )


def _level(stage: int, told: Json, found: Answers) -> ForeignLevel:
    load_told = part(told, "load_summary")
    streams, rate = whole(load_told.get("concurrency")), finite(load_told.get("requested_rate"))
    if streams:
        name, kind, rate = f"c={streams}", "closed", None
    elif rate:
        name, kind = f"{rate:.4g}/s", "open"
    else:
        name, kind = f"stage {stage}", "closed" if np.isnan(found.due_s).all() else "open"
    duration_s = span(told.get("benchmark_time_seconds"))
    return ForeignLevel(name, kind, streams, rate, found, duration_s, flat(told))


def _odd(stages: dict[int, Json]) -> list[str]:
    said: list[str] = []
    for stage, told in stages.items():
        said += odd_fields(told, {"benchmark_time_seconds": SPAN}, f"Stage {stage}: ")
        said += odd_fields(part(told, "load_summary"), ASKED, f"Stage {stage}: load_summary.")
    return said


def _is_open(stages: dict[int, Json], stage: int) -> bool:
    """Whether `scheduled_time` was a schedule: a stage of so many streams has none."""
    return not part(stages.get(stage, {}), "load_summary").get("concurrency")


def _stage_files(path: Path) -> dict[int, Json]:
    found: dict[int, Json] = {}
    for other in sorted(path.parent.glob("*stage_*.json")):
        named = STAGE.fullmatch(other.name)
        if named and named[1] == _prefix(path) and (told := _beside(other)):
            found[int(named[2])] = told
    return found


def _beside(path: Path) -> Json:
    if not path.is_file():
        return {}
    found = load(path)
    return found.document if is_it(found) and isinstance(found.document, dict) else {}


def _stages_of(requests: list[Json], stages: dict[int, Json]) -> dict[int, list[int]]:
    """Indices of each stage's requests: as they say; else by their start, as many as it counts."""
    of_stage: dict[int, list[int]] = {}
    if all(type(one.get("stage_id")) is int for one in requests):
        for i, one in enumerate(requests):
            of_stage.setdefault(one["stage_id"], []).append(i)
        return dict(sorted(of_stage.items()))
    counts = {
        stage: whole(part(told, "load_summary").get("count")) or 0
        for stage, told in sorted(stages.items())
    }
    if sum(counts.values()) != len(requests):
        return {0: list(range(len(requests)))}
    begin = 0
    for stage, count in counts.items():
        of_stage[stage] = list(range(begin, begin + int(count)))
        begin += int(count)
    return of_stage


def _answers(source: Source, requests: list[Json], zero_s: float, is_open: bool) -> Answers:
    n = len(requests)
    start = column(source, "start_time", [one["start_time"] for one in requests], 1e12)
    end = column(source, "end_time", [one["end_time"] for one in requests], 1e12)
    due = column(source, "scheduled_time", [one.get("scheduled_time") for one in requests], 1e12)
    metrics = [_response(one) for one in requests]
    chunk_of, chunk_s, chunk_tokens = _chunks(source, metrics, start)
    said = [_said(one.get("error")) for one in requests]
    outcome = ["complete" if said_one is None else outcome_of(said_one) for said_one in said]
    first_s, last_s = np.full(n, np.nan), np.full(n, np.nan)
    last_s[chunk_of] = chunk_s  # of several values for one place numpy keeps the last
    first_s[chunk_of[::-1]] = chunk_s[::-1]
    usage = [part(found, "server_usage") for found in metrics]
    more = {
        "usage_prompt_tokens": [one.get("prompt_tokens") for one in usage],
        "usage_output_tokens": [one.get("completion_tokens") for one in usage],
    }
    counted = {name: column(source, name, values, MOST_TOKENS) for name, values in more.items()}
    return answers(
        outcome,
        start_s=start - zero_s,
        due_s=due - zero_s if is_open else np.full(n, np.nan),
        ttft_s=first_s,
        visible_s=first_s,
        last_s=last_s,
        end_s=end - start,
        prompt_tokens=column(
            source, "input_tokens", [_input_tokens(one) for one in requests], MOST_TOKENS
        ),
        output_tokens=column(
            source, "output_tokens", [found.get("output_tokens") for found in metrics], MOST_TOKENS
        ),
        chunk_of=chunk_of,
        chunk_s=chunk_s,
        chunk_tokens=chunk_tokens,
        detail=[None if said_one is None else detail_of(said_one) for said_one in said],
        token_source="tokenizer",
        more={name: found for name, found in counted.items() if not np.isnan(found).all()},
    )


def _response(one: Json) -> Json:
    """The answer's metrics; in old files they stand in `info` itself."""
    info = part(one, "info")
    return part(info, "response_metrics") or info


def _input_tokens(one: Json) -> Any:
    info = part(one, "info")
    asked = part(part(info, "request_metrics"), "text")
    found = info.get("input_tokens")
    return asked.get("input_tokens") if found is None else found


def _said(error: Any) -> str | None:
    if not error:
        return None
    if isinstance(error, dict):
        return f"{error.get('error_type', '')}: {error.get('error_msg', '')}"
    return str(error)


def _chunks(source: Source, metrics: list[Json], start: Any) -> tuple[Any, Any, Any]:
    """(request, arrival from its send, tokens) of each chunk.

    A token's time is that of its chunk, so equal times are one chunk of so many tokens.
    """
    of: list[Any] = [np.empty(0, np.int64)]
    arrival: list[Any] = [np.empty(0)]
    tokens: list[Any] = [np.empty(0)]
    for i, found in enumerate(metrics):
        times = _times(found, "output_token_times")
        at = column(source, f"[{i}].output_token_times", times, 1e12)
        distinct, counts = np.unique(at, return_counts=True)
        told = _times(found, "chunk_times")
        if told:
            chunk_at = column(source, f"[{i}].chunk_times", told, 1e12)
            if len(chunk_at) != len(distinct) or (chunk_at != distinct).any():
                distinct, counts = chunk_at, np.full(len(chunk_at), np.nan)
        of.append(np.full(len(distinct), i))
        arrival.append(distinct - start[i])
        tokens.append(counts.astype(np.float64))
    return np.concatenate(of), np.concatenate(arrival), np.concatenate(tokens)


def _times(found: Json, name: str) -> list[Any]:
    told = found.get(name)
    if told is not None and not isinstance(told, list):
        raise ImportProblem(f"{name} is no list of times.")
    return told or []
