"""NVIDIA AIPerf: profile_export.jsonl, one record a line, and profile_export_aiperf.json beside it.

Tags were renamed over time (`ttft` became `time_to_first_token`): both names are read.
"""

import math
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from storage.exchange.answers import Answers, Floats, ForeignLevel, ForeignRun, answers
from storage.exchange.oddities import COUNT, RATE, TEXT, odd_fields
from storage.exchange.outcomes import detail_of, outcome_of
from storage.exchange.source import (
    Json,
    Source,
    column,
    field_of,
    finite,
    flat,
    load,
    nested,
    part,
    parts,
    text,
    whole,
)
from storage.exchange.vllm_bench import chunks

RECORDS, SUMMARY = ".jsonl", "_aiperf.json"
START = ("request_start_ns", "timestamp_ns")
NOT_MEASURED = ("warmup", "warm_up", "warm-up")
NO_SUMMARY = "The tool's own summary (profile_export_aiperf.json) is not beside the records."
NO_REQUESTS = "Only the tool's summary: its records (profile_export.jsonl) are not beside it."
MS_PER_S, NS_PER_S = 1e3, 1e9
TAGS = {
    "ttft": ("time_to_first_token", "ttft"),
    "visible": ("time_to_first_output_token", "ttfo"),
    "latency": ("request_latency",),
    "prompt": ("input_sequence_length",),
    "output": ("output_sequence_length",),
    "reasoning": ("reasoning_token_count",),
    "gaps": ("inter_chunk_latency",),
    "usage_prompt": ("usage_prompt_tokens",),
    "usage_output": ("usage_completion_tokens",),
    "dns": ("http_req_dns_lookup",),
    "connect": ("http_req_connecting",),
    "reused": ("http_req_connection_reused",),
    "last_ns": ("max_response_timestamp",),
}


def is_it(source: Source) -> bool:
    """Whether these are AIPerf's records or its summary."""
    found = source.objects
    if not found:
        return False
    is_summary = len(found) == 1 and "input_config" in found[0] and "error_summary" in found[0]
    return is_summary or _are_records(found)


def _are_records(found: list[Json]) -> bool:
    first = found[0]
    return {"metadata", "metrics"} <= first.keys() and isinstance(first["metrics"], dict)


def primary(path: Path) -> Path:
    """The records of which `path` is the summary, where they lie beside it."""
    if path.name.endswith(SUMMARY):
        records = path.with_name(path.name.removesuffix(SUMMARY) + RECORDS)
        if records.is_file():
            return records
    return path


def read(source: Source) -> list[ForeignRun]:
    """The one run of a pair of files, or of either alone."""
    if not _are_records(source.objects):
        return [_run(source, None, source.objects[0])]
    beside = source.path.with_name(source.path.name.removesuffix(RECORDS) + SUMMARY)
    summary: Json = {}
    if source.path.name.endswith(RECORDS) and beside.is_file():
        summary = field_of(source, {"the summary": load(beside).document}, "the summary", dict)
    return [_run(source, source.objects, summary)]


def _run(source: Source, records: list[Json] | None, summary: Json) -> ForeignRun:
    told, started_ns = (answers([]), None) if records is None else _answers(source, records)
    name, kind, concurrency, rate = _load(summary)
    model, url = _asked(summary)
    reported = flat(summary.get("records") or _figures(summary))
    lacks = [NO_REQUESTS] if records is None else [] if summary else [NO_SUMMARY]
    lacks += odd_fields(summary, {"aiperf_version": TEXT}) + odd_fields(_asked_load(summary), ASKED)
    return ForeignRun(
        tool="aiperf",
        version=text(summary.get("aiperf_version")),
        name=f"{model or 'AIPerf'} {name}",
        model=model,
        url=url,
        started_epoch_s=None if started_ns is None else started_ns / NS_PER_S,
        levels=[
            ForeignLevel(name, kind, concurrency, rate, told, _duration_s(summary, told), reported)
        ],
        lacks=lacks,
        notes=["The tool says that the run was cancelled."] if summary.get("was_cancelled") else [],
    )


def _figures(summary: Json) -> Json:
    """The summary's metrics: objects with a unit; what else it holds is set-up."""
    return {k: v for k, v in summary.items() if isinstance(v, dict) and "unit" in v}


def _answers(source: Source, records: list[Json]) -> tuple[Answers, int]:
    """The records by their start, and the first start's wall clock in ns."""
    rows = [_row(source, i, record) for i, record in enumerate(records)]
    starts = np.array([row["start_ns"] for row in rows], dtype=np.int64)
    order = np.argsort(starts, kind="stable").tolist()
    rows, starts = [rows[i] for i in order], starts[order]
    tag = {name: _tag(source, name, rows) for name in TAGS if name != "gaps"}
    ttft_s, latency_s = tag["ttft"] / MS_PER_S, tag["latency"] / MS_PER_S
    lists = [_gaps(row, gap) for row, gap in zip(rows, ttft_s == latency_s, strict=True)]
    gaps_ms, n_gaps = nested(source, "inter_chunk_latency", [found or [] for found in lists])
    has_chunks = np.array([found is not None for found in lists], dtype=bool)
    chunk_of, chunk_s = chunks(np.where(has_chunks, ttft_s, np.nan), gaps_ms / MS_PER_S, n_gaps)
    is_plain = tag["reasoning"] == 0
    return answers(
        [row["outcome"] for row in rows],
        start_s=(starts - starts[0]) / NS_PER_S,
        ttft_s=ttft_s,
        visible_s=np.where(np.isnan(tag["visible"]) & is_plain, ttft_s, tag["visible"] / MS_PER_S),
        last_s=latency_s,
        end_s=np.array([row["end_s"] for row in rows]),
        prompt_tokens=tag["prompt"],
        output_tokens=tag["output"],
        reasoning_tokens=tag["reasoning"],
        chunk_of=chunk_of,
        chunk_s=chunk_s,
        phase=[row["phase"] for row in rows],
        detail=[row["detail"] for row in rows],
        token_source="tokenizer",
        request_ids=[row["id"] for row in rows],
        more=_more(tag, rows),
        extra={"gaps_s": gaps_ms / MS_PER_S, "n_gaps": n_gaps, "start_ns": starts},
    ), int(starts[0])


def _row(source: Source, i: int, record: Json) -> Json:
    where = f"record {i + 1}: "
    if not isinstance(record.get("metadata"), dict) or not isinstance(record.get("metrics"), dict):
        raise source.problem(f"{where}it has no metadata and metrics.")
    meta, error = record["metadata"], record.get("error")
    start_ns = next((meta[name] for name in START if name in meta), None)
    if type(start_ns) is not int or not 0 <= start_ns < 2**63:
        raise source.problem(f"{where}request_start_ns is {start_ns}; expected nanoseconds.")
    phase = str(meta.get("benchmark_phase") or meta.get("credit_phase") or "profiling")
    said = "" if not isinstance(error, dict) else str(error.get("message") or error.get("type"))
    code = error.get("code") if isinstance(error, dict) else None
    is_cancelled = meta.get("was_cancelled") is True
    return {
        "start_ns": start_ns,
        "end_s": _between_s(start_ns, meta.get("request_end_ns")),
        "queue_s": _between_s(meta.get("credit_issued_ns"), start_ns),
        "turn": float(meta["turn_index"]) if type(meta.get("turn_index")) is int else math.nan,
        "phase": "warmup" if phase in NOT_MEASURED else "measure",
        "id": str(meta.get("x_request_id") or ""),
        "outcome": _outcome(error, said, code, is_cancelled),
        "detail": detail_of(said),
        "metrics": record["metrics"],
        "where": where,
    }


def _outcome(error: Any, said: str, code: Any, is_cancelled: bool) -> str:
    if is_cancelled:
        return "cancelled"
    if not error:
        return "complete"
    return outcome_of(said, code if isinstance(code, int) else None)


def _between_s(begin_ns: Any, end_ns: Any) -> float:
    """Seconds between two instants; whole ns, for a float of today's clock steps by 256 ns."""
    is_told = type(begin_ns) is int and type(end_ns) is int
    return (end_ns - begin_ns) / NS_PER_S if is_told else math.nan


def _value(row: Json, name: str) -> Any:
    """A metric's value under the first of its names that the record has."""
    for tag in TAGS[name]:
        found = row["metrics"].get(tag)
        if isinstance(found, dict):
            return found.get("value")
    return None


def _tag(source: Source, name: str, rows: list[Json]) -> Floats:
    return column(source, TAGS[name][0], [_value(row, name) for row in rows], most=1e19)


def _gaps(row: Json, is_single: bool) -> list[Any] | None:
    """The record's gaps; none at all (None) where they are not told and there was one to tell."""
    found = _value(row, "gaps")
    if found is None:
        return [] if is_single else None
    return found


def _more(tag: dict[str, Floats], rows: list[Json]) -> dict[str, Floats]:
    reused, turn = tag["reused"], np.array([row["turn"] for row in rows])
    found = {
        "usage_prompt_tokens": tag["usage_prompt"],
        "usage_output_tokens": tag["usage_output"],
        "queue_s": np.array([row["queue_s"] for row in rows]),
        "conn_reused": reused,
        "dns_s": np.where(reused == 1, np.nan, tag["dns"] / MS_PER_S),
        "connect_s": np.where(reused == 1, np.nan, tag["connect"] / MS_PER_S),
        "turn": turn if (turn > 0).any() else np.full(len(rows), np.nan),
    }
    return {name: values for name, values in found.items() if not np.isnan(values).all()}


def _duration_s(summary: Json, told: Answers) -> float | None:
    """What the tool divides by: the whole run; in old versions first start to last response.

    A summary with `benchmark_duration` divides by its end_time - start_time all the same (0.13).
    """
    if "benchmark_duration" in summary:
        try:
            began, ended = (datetime.fromisoformat(summary[k]) for k in ("start_time", "end_time"))
        except (KeyError, TypeError, ValueError):
            return None
        return (ended - began).total_seconds()
    is_ok = np.array([ended == "complete" for ended in told.outcome], dtype=bool)
    if not is_ok.any():
        return None
    return float((told.start_s + told.last_s)[is_ok].max() - told.start_s[is_ok].min())


def _load(summary: Json) -> tuple[str, str, int | None, float | None]:
    """Name, kind, concurrency and rate of the load, where the summary's set-up tells it."""
    load = _asked_load(summary)
    rate = finite(load.get("request_rate")) or finite(load.get("rate"))
    most = whole(load.get("concurrency"))
    if rate:
        return f"{rate:g}/s" + (f", at most {most}" if most else ""), "open", most, rate
    return (f"c={most}" if most else "load not told"), "closed", most, None


ASKED = {"request_rate": RATE, "rate": RATE, "concurrency": COUNT}


def _asked_load(summary: Json) -> Json:
    asked = part(summary, "input_config")
    phases = [phase for phase in parts(asked, "phases") if phase.get("kind") != "warmup"]
    return phases[0] if phases else part(asked, "loadgen")


def _asked(summary: Json) -> tuple[str | None, str | None]:
    """Model and URL, as either version of the set-up names them."""
    asked = part(summary, "input_config")
    endpoint = part(asked, "endpoint")
    names = [model.get("name") for model in parts(part(asked, "models"), "items")]
    return _first_text(names or endpoint.get("model_names")), (
        _first_text(endpoint.get("urls")) or text(endpoint.get("url"))
    )


def _first_text(values: Any) -> str | None:
    return text(values[0]) if isinstance(values, list) and values else None
