"""Result files of other tools, made by hand after docs/import.md: every value is invented."""

import json
import os
from pathlib import Path

import pytest

SAMPLES = Path(
    os.environ.get("HEADWAY_SAMPLES") or Path(__file__).parents[4] / "shared" / "samples"
)
"""Real result files, if there are any: they belong to others and are not shipped."""

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(),
    reason="needs real result files, which are not shipped: HEADWAY_SAMPLES names their folder",
)


def write(path, value):
    """The value as JSON, with Python's bare NaN and Infinity."""
    path.write_text(json.dumps(value))
    return path


def write_lines(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def vllm_result(schema="current", **changed):
    """Three requests, the second failed; 4 and 3 chunks."""
    found = {
        "date": "20260102-030405",
        "backend": "openai-chat",
        "model_id": "made-up-8b",
        "tokenizer_id": "made-up-8b",
        "num_prompts": 3,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 2,
        "duration": 1.25,
        "completed": 2,
        "total_input_tokens": 30,
        "total_output_tokens": 7,
        "request_throughput": 1.6,
        "output_throughput": 5.6,
        "input_lens": [10, 10, 20],
        "output_lens": [4, 0, 3],
        "ttfts": [0.1, 0.0, 0.2],
        "itls": [[0.02, 0.03, 0.01], [], [0.05, 0.04]],
        "generated_texts": ["a b c d", "", "x y z"],
        "errors": ["", "Too Many Requests", ""],
        "mean_ttft_ms": 150.00000000000003,
    }
    if schema == "old":
        found["request_goodput:"] = None
    else:
        found |= {"failed": 1, "request_goodput": None, "start_times": [50.0, 50.1, 50.25]}
    if schema == "current":
        found |= {"latencies": [0.16, 0.0, 0.29], "queue_times": [0.0, 0.0, 0.125]}
    return found | changed


def aiperf_record(start_ns, gaps_ms, old=False, **metadata):
    """One answer: TTFT 100 ms, then the gaps."""
    value = {
        "input_sequence_length": (32, "tokens"),
        "output_sequence_length": (len(gaps_ms) + 1, "tokens"),
        "reasoning_token_count": (0, "tokens"),
        "ttft" if old else "time_to_first_token": (100.0, "ms"),
        "request_latency": (100.0 + sum(gaps_ms), "ms"),
        "inter_chunk_latency": (gaps_ms, "ms"),
    }
    if old:
        times = {"timestamp_ns": start_ns, "credit_phase": "profiling"}
    else:
        times = {
            "credit_issued_ns": start_ns - 2_000_000,
            "request_start_ns": start_ns,
            "request_end_ns": start_ns + round((100.5 + sum(gaps_ms)) * 1e6),
            "benchmark_phase": "profiling",
            "was_cancelled": False,
        }
        value["time_to_first_output_token"] = (100.0, "ms")
        value["usage_prompt_tokens"] = (16, "tokens")
        value["usage_completion_tokens"] = (len(gaps_ms) + 1, "tokens")
    return {
        "metadata": {"x_request_id": f"made-up-{start_ns}", "turn_index": 0} | times | metadata,
        "metrics": {k: {"value": v, "unit": unit} for k, (v, unit) in value.items()},
    }


def aiperf_failure(start_ns, code, message):
    """A record without an answer."""
    return {
        "metadata": {"x_request_id": f"made-up-{start_ns}", "request_start_ns": start_ns},
        "metrics": {"error_request_count": {"value": 1, "unit": "requests"}},
        "error": {"code": code, "type": "MadeUp", "message": message},
    }


def aiperf_summary(old=False):
    figures = {"request_latency": {"unit": "ms", "avg": 155.0, "p99": 160.0}}
    rest = {"was_cancelled": False, "error_summary": [], "start_time": "2026-01-02T03:04:05.5"}
    rest["end_time"] = "2026-01-02T03:04:06.25"
    if old:
        endpoint = {"model_names": ["made-up-8b"], "url": "localhost:9"}
        loadgen = {"concurrency": 2, "request_count": 3}
        return {
            "records": figures,
            "input_config": {"endpoint": endpoint, "loadgen": loadgen},
        } | rest
    asked = {
        "models": {"items": [{"name": "made-up-8b"}]},
        "endpoint": {"urls": ["http://localhost:9"], "type": "chat"},
        "phases": [{"name": "profiling", "kind": "profiling", "concurrency": 2}],
    }
    told = {"aiperf_version": "0.13.0", "benchmark_duration": {"unit": "sec", "avg": 0.4}}
    return told | figures | {"input_config": asked} | rest


def write_aiperf(folder, records, summary):
    """The pair of files as AIPerf names them; the records' path."""
    write(folder / "profile_export_aiperf.json", summary)
    return write_lines(folder / "profile_export.jsonl", records)
