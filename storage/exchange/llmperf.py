"""llmperf: *_individual_responses.json, and *_summary.json beside it."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from storage.exchange.answers import Answers, ForeignLevel, ForeignRun, answers
from storage.exchange.oddities import COUNT, NUMBER, TEXT, odd_fields
from storage.exchange.outcomes import detail_of, outcome_of
from storage.exchange.source import (
    MOST_TOKENS,
    Json,
    Source,
    column,
    field_of,
    finite,
    flat,
    load,
    text,
    whole,
)

RECORDS, SUMMARY = "_individual_responses.json", "_summary.json"
OWN = ("inter_token_latency_s", "request_output_throughput_token_per_s")
LACKS = [
    "No start times: there is no time line, no concurrency and no throughput over time.",
    "No chunk times: there are no gaps and no ITL.",
]
NO_SUMMARY = "The tool's own summary (*_summary.json) is not beside the responses."
NO_REQUESTS = "Only the tool's summary: *_individual_responses.json is not beside it."
NOTES = [
    "Output tokens are counted with a Llama tokenizer, whatever the model.",
    "The last token's time is not told: end to end ends when the stream closed.",
    "The tool's inter_token_latency_s holds the time to the first token too: it is no ITL.",
]


def is_it(source: Source) -> bool:
    """Whether these are llmperf's responses or its summary."""
    found = source.document
    if isinstance(found, list):
        keys = [one.keys() if isinstance(one, dict) else set[str]() for one in found]
        return bool(found) and all({"error_code", "error_msg"} <= mine for mine in keys)
    return isinstance(found, dict) and "results_num_requests_started" in found


def primary(path: Path) -> Path:
    """The responses of which `path` is the summary, where they lie beside it."""
    if path.name.endswith(SUMMARY):
        responses = path.with_name(path.name.removesuffix(SUMMARY) + RECORDS)
        if responses.is_file():
            return responses
    return path


def read(source: Source) -> list[ForeignRun]:
    """The one run of a pair of files, or of either alone."""
    if isinstance(source.document, dict):
        return [_run(source.document, answers([]), [NO_REQUESTS])]
    beside = source.path.with_name(source.path.name.removesuffix(RECORDS) + SUMMARY)
    summary: Json = {}
    if source.path.name.endswith(RECORDS) and beside.is_file():
        summary = field_of(source, {"the summary": load(beside).document}, "the summary", dict)
    lacks = LACKS if summary else [*LACKS, NO_SUMMARY]
    return [_run(summary, _answers(source, source.document), lacks)]


EXPECTED = {
    "model": TEXT,
    "num_concurrent_requests": COUNT,
    "results_num_completed_requests": NUMBER,
    "results_num_completed_requests_per_min": NUMBER,
}


def _run(summary: Json, told: Answers, lacks: list[str]) -> ForeignRun:
    streams, model = whole(summary.get("num_concurrent_requests")), text(summary.get("model"))
    name = f"c={streams}" if streams else "load not told"
    done, per_min = (
        finite(summary.get(f"results_num_completed_requests{end}")) for end in ("", "_per_min")
    )
    return ForeignRun(
        tool="llmperf",
        version=text(summary.get("version")),
        name=f"{model or 'llmperf'} {name}",
        model=model,
        url=None,
        started_epoch_s=None,  # the summary's timestamp is of its writing
        levels=[
            ForeignLevel(
                name,
                "closed",
                streams,
                None,
                told,
                60 * done / per_min if done and per_min else None,
                flat({key: _unquoted(value) for key, value in summary.items()}),
            )
        ],
        lacks=[*lacks, *odd_fields(summary, EXPECTED)],
        notes=NOTES if len(told) else [],
    )


def _unquoted(value: Any) -> Any:
    """Some minima and maxima are numbers in quotes."""
    is_number = isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value)
    return float(value) if is_number else value


def _answers(source: Source, responses: list[Json]) -> Answers:
    def told(name: str, most: float = 1e7) -> Any:
        return column(source, name, [one.get(name) for one in responses], most)

    said = [one.get("error_msg") if one.get("error_code") is not None else "" for one in responses]
    codes = [one.get("error_code") for one in responses]
    outcome = [
        "complete" if code is None else outcome_of(str(text or ""), code if _is_int(code) else None)
        for code, text in zip(codes, said, strict=True)
    ]
    is_ok = np.array([ended == "complete" for ended in outcome], dtype=bool)
    end_s = np.where(is_ok, told("end_to_end_latency_s"), np.nan)
    return answers(
        outcome,
        ttft_s=np.where(is_ok, told("ttft_s"), np.nan),
        last_s=end_s,
        end_s=end_s,
        prompt_tokens=told("number_input_tokens", MOST_TOKENS),
        output_tokens=np.where(is_ok, told("number_output_tokens", MOST_TOKENS), np.nan),
        detail=[detail_of(str(text or "")) for text in said],
        token_source="tokenizer",
        extra={name: told(name) for name in OWN},
    )


def _is_int(code: Any) -> bool:
    return type(code) is int
