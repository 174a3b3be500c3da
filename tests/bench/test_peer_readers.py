"""Each tool's own result file, in the shape it has, becomes the same few numbers in ms."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.peers.aiperf import AIPERF
from bench.peers.guidellm import GUIDELLM
from bench.peers.headway import HEADWAY
from bench.peers.inference_perf import INFERENCE_PERF
from bench.peers.peer import Load, ResultError, Spread
from bench.peers.vllm import VLLM

NAMES = ("mean", "p50", "p99")


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return Load("http://127.0.0.1:1", "truth", 4, 8, 50, tmp_path / "tokenizer", tmp_path)


def write(load: Load, name: str, result: dict[str, Any]) -> None:
    file = load.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result))


def test_vllm_tells_chunk_gaps_and_a_time_per_token(load: Load):
    times = {"ttft": (101.5, 101.0, 120.0), "itl": (19.6, 20.0, 21.0), "tpot": (20.1, 20.0, 20.4)}
    flat = {
        f"{n}_{m}_ms": x for m, three in times.items() for n, x in zip(NAMES, three, strict=True)
    }
    write(load, "result.json", {"backend": "openai", "completed": 8, "failed": 0} | flat)
    found = VLLM.read(load)
    assert found.requests == 8
    assert found.ttft == Spread(101.5, 101.0, 120.0)
    assert found.gaps == Spread(19.6, 20.0, 21.0)
    assert found.per_token == Spread(20.1, 20.0, 20.4)


def test_aiperfs_inter_token_latency_is_a_mean_per_request(load: Load):
    def metric(avg: float, p50: float, p99: float) -> dict[str, Any]:
        return {"unit": "ms", "avg": avg, "p50": p50, "p90": 0.0, "p99": p99, "count": 8}

    result = {
        "request_count": {"unit": "requests", "avg": 8.0},
        "time_to_first_token": metric(190.5, 172.3, 403.1),
        "inter_token_latency": metric(21.5, 21.4, 25.4),
        "inter_chunk_latency": metric(21.5, 19.6, 117.7),
    }
    write(load, "results/profile_export_aiperf.json", result)
    found = AIPERF.read(load)
    assert found.requests == 8
    assert found.ttft == Spread(190.5, 172.3, 403.1)
    assert found.gaps == Spread(21.5, 19.6, 117.7)
    assert found.per_token == Spread(21.5, 21.4, 25.4)


def test_a_metric_that_aiperf_leaves_out_is_not_told_rather_than_zero(load: Load):
    write(load, "results/profile_export_aiperf.json", {"request_count": {"avg": 8.0}})
    found = AIPERF.read(load)
    assert (found.ttft, found.gaps, found.per_token) == (None, None, None)


def guidellm_result() -> dict[str, Any]:
    def metric(mean: float, p50: float, p99: float) -> dict[str, Any]:
        told = {"mean": mean, "median": p50, "percentiles": {"p50": p50, "p95": 0.0, "p99": p99}}
        failed = {"mean": 0.0, "percentiles": {"p50": 0.0, "p99": 0.0}}
        return {"successful": told, "errored": failed, "total": failed}

    metrics = {
        "request_totals": {"successful": 7, "errored": 1, "incomplete": 0, "total": 8},
        "time_to_first_token_ms": metric(178.6, 176.4, 274.5),
        "inter_token_latency_ms": metric(19.75, 19.76, 21.45),
        "time_per_output_token_ms": metric(22.9, 22.9, 24.7),
    }
    return {"metadata": {}, "benchmarks": [{"metrics": metrics}]}


def test_guidellm_is_read_from_the_successful_requests_and_has_no_chunk_gaps(load: Load):
    write(load, "result.json", guidellm_result())
    found = GUIDELLM.read(load)
    assert found.requests == 7
    assert found.ttft == Spread(178.6, 176.4, 274.5)
    assert found.gaps is None
    assert found.per_token == Spread(19.75, 19.76, 21.45)


def test_a_result_of_two_benchmarks_is_not_guessed_at(load: Load):
    result = guidellm_result()
    write(load, "result.json", {"benchmarks": result["benchmarks"] * 2})
    with pytest.raises(ResultError, match="2 benchmarks instead of 1"):
        GUIDELLM.read(load)


def test_inference_perf_tells_seconds(load: Load):
    latency = {
        "time_to_first_token": {"mean": 0.125, "median": 0.116, "p99": 0.25, "min": 0.1},
        "inter_token_latency": {"mean": 0.02, "median": 0.0195, "p99": 0.1},
        "time_per_output_token": None,
    }
    write(
        load,
        "results/summary_lifecycle_metrics.json",
        {"successes": {"count": 8, "latency": latency}, "failures": {"count": 0}},
    )
    found = INFERENCE_PERF.read(load)
    assert found.requests == 8
    assert found.ttft == Spread(*map(pytest.approx, (125.0, 116.0, 250.0)))
    assert found.gaps == Spread(*map(pytest.approx, (20.0, 19.5, 100.0)))
    assert found.per_token is None


def headway_result(load: Load) -> None:
    def metric(*three: float) -> dict[str, Any]:
        return {"unit": "ms", "n": 8} | dict(zip(NAMES, three, strict=True))

    level = {
        "validity": {"verdict": "bounded"},
        "window": {"begin_us": 1_000, "end_us": 9_000},
        "metrics": {
            "ttft": metric(100.1, 100.0, 101.0),
            "chunk_gap": metric(20.0, 20.0, 20.3),
            "tpot": metric(20.0, 20.0, 20.1),
        },
    }
    result = {"run": {"uid": "u-1"}, "outcomes": {"complete": 8}, "levels": [level]}
    write(load, "result.json", result)
    write(load, "data/runs/u-1/run.json", {"t0_mono_ns": 5_000_000})


def test_headways_window_is_put_on_the_monotonic_line(load: Load):
    headway_result(load)
    found = HEADWAY.read(load)
    assert found.window_ns == (6_000_000, 14_000_000)
    assert (found.requests, found.remark) == (8, "bounded")
    assert found.gaps == Spread(20.0, 20.0, 20.3)


@pytest.mark.parametrize(
    ("tool", "file"),
    [
        (VLLM, "result.json"),
        (AIPERF, "results/profile_export_aiperf.json"),
        (GUIDELLM, "result.json"),
        (INFERENCE_PERF, "results/summary_lifecycle_metrics.json"),
        (HEADWAY, "result.json"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_result_of_another_shape_names_what_is_missing(load: Load, tool: Any, file: str):
    write(load, file, {"something": "else"})
    with pytest.raises(ResultError, match="its result has no"):
        tool.read(load)
