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


def guidellm_old(**strategy):
    """One benchmark of the 0.2 schema: two answers and one that the tool cut off."""

    def one(start, first, last, end, tokens, **more):
        return {
            "request_id": f"made-up-{start}",
            "prompt_tokens": 16,
            "output_tokens": tokens,
            "start_time": start,
            "end_time": end,
            "first_token_time": first,
            "last_token_time": last,
            "scheduler_info": {"targeted_start_time": start - 0.25, "worker_start": start - 0.125},
        } | more

    cut = one(1001.0, 1001.5, 1001.75, 1002.0, 2, error="TimeoutError: it timed out")
    requests = {
        "successful": [
            one(1000.5, 1000.75, 1001.5, 1001.625, 4),
            one(1000.0, 1000.5, 1001.0, 1001.125, 3),
        ],
        "errored": [],
        "incomplete": [cut],
    }
    figures = {"mean": 375.0, "count": 2, "percentiles": {"p99": 500.0}}
    benchmark = {
        "args": {"strategy": strategy or {"type_": "constant", "rate": 2.0}},
        "run_stats": {"requests_made": {"total": 4}},
        "worker": {"backend_target": "http://localhost:9", "backend_model": "made-up-8b"},
        "metrics": {"time_to_first_token_ms": {"successful": figures, "total": figures}},
        "requests": requests,
        "duration": 2.0,
    }
    return {"benchmarks": [benchmark]}


def guidellm_new(version="0.5.0", **strategy):
    """The same answers as 0.5 and later write them; 0.8 tells the first visible token too."""
    old = guidellm_old()["benchmarks"][0]
    is_08 = version >= "0.8"

    def one(request):
        start, first = request["start_time"], request["first_token_time"]
        timings = {
            "targeted_start": start - 0.25,
            "resolve_start": start - 0.125,
            "request_start": start,
            "first_request_iteration": first - 0.0625,
            "first_token_iteration": first,
            "last_token_iteration": request["last_token_time"],
            "token_iterations": request["output_tokens"],
            "request_end": request["end_time"],
        }
        if is_08:
            timings["first_output_token_iteration"] = first + 0.125
        told = {k: request[k] for k in ("request_id", "prompt_tokens", "output_tokens")}
        return told | {"info": {"timings": timings, "error": request.get("error")}}

    groups = {name: [one(r) for r in rows] for name, rows in old["requests"].items()}
    benchmark = {
        "config": {
            "strategy": strategy or {"type_": "concurrent", "streams": 2},
            "backend": {"target": "http://localhost:9", "model": "made-up-8b", "api_key": "key"},
        },
        "scheduler_metrics": {"measure_start_time": 1000.0, "measure_end_time": 1002.0},
        "metrics": old["metrics"],
        "requests": groups,
        "duration": 2.0,
    }
    return {"metadata": {"guidellm_version": version}, "benchmarks": [benchmark]}


def sglang_result(details=True, **changed):
    """One line of bench_serving, keys as in vLLM's old schema."""
    found = vllm_result("old")
    for name in ("model_id", "tokenizer_id", "num_prompts", "best_of", "request_goodput:"):
        found.pop(name, None)
    if not details:
        found = {k: v for k, v in found.items() if not isinstance(v, list)}
    told = {
        "backend": "sglang-oai-chat",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "total_output_tokens_retokenized": 7,
        "server_info": {"model_path": "made-up-8b", "version": "0.0.1", "port": 9},
        "concurrency": 0.36,
    }
    return found | told | changed


def llmperf_responses():
    def one(ttft, e2e, tokens, code=None, said=""):
        return {
            "error_code": code,
            "error_msg": said,
            "inter_token_latency_s": e2e / max(tokens, 1),
            "ttft_s": ttft,
            "end_to_end_latency_s": e2e,
            "request_output_throughput_token_per_s": tokens / e2e if e2e else 0,
            "number_total_tokens": tokens + 20,
            "number_output_tokens": tokens,
            "number_input_tokens": 20,
        }

    return [one(0.5, 1.5, 11), one(0.25, 1.0, 4), one(0, 0, 0, 429, "Too many requests")]


def llmperf_summary():
    return {
        "version": "2023-08-31",
        "model": "made-up-8b",
        "num_concurrent_requests": 2,
        "results_num_requests_started": 3,
        "results_num_completed_requests": 2,
        "results_num_completed_requests_per_min": 40.0,
        "results_number_input_tokens_min": "20",
        "results_ttft_s_mean": 0.375,
        "results_error_code_frequency": "{429: 1}",
    }


def inference_perf_request(start, tokens, old=False, error=None, **more):
    """An answer whose first chunk holds two tokens, 0.5 s after its start; then one each 0.25 s."""
    times = [start + 0.5, start + 0.5, *(start + 0.75 + 0.25 * k for k in range(tokens - 2))]
    told = {
        "output_tokens": tokens,
        "output_token_times": [] if error else times,
        "server_usage": {"prompt_tokens": 20, "completion_tokens": tokens},
    }
    info = {"input_tokens": 21} | (told if old else {"response_metrics": told})
    end = times[-1] + 0.125
    return {"start_time": start, "end_time": end, "info": info, "error": error} | more


def inference_perf_stage(count, **load):
    return {
        "benchmark_time_seconds": 4.0,
        "load_summary": {"count": count} | load,
        "successes": {"count": count, "latency": {"request_latency": {"mean": 1.0}}},
        "failures": {"count": 0},
    }
