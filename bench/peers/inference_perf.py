"""inference-perf, of the Kubernetes project: https://github.com/kubernetes-sigs/inference-perf."""

import json
from typing import Any

from bench.peers.peer import PROMPT_BYTES, Load, Peer, Reported, Spread, spread, value

RESULTS = "results"
RESULT = "summary_lifecycle_metrics.json"
KEYS = ("mean", "median", "p99")
PER_MS = 0.001  # it tells seconds


def _arguments(load: Load) -> list[str]:
    corpus = load.folder / "corpus.txt"  # of which it takes pieces of the length asked for
    corpus.write_text("\n".join(load.prompts()))
    config = load.folder / "config.json"  # JSON is YAML, too
    config.write_text(json.dumps(_config(load, str(corpus)), indent=1))
    return ["-c", str(config)]


def _config(load: Load, corpus: str) -> dict[str, Any]:
    def always(n: int) -> dict[str, Any]:
        exactly = {"min": n, "max": n, "mean": n, "std_dev": 0}
        return {"type": "fixed", "total_count": load.requests} | exactly

    stage = {"num_requests": load.requests, "concurrency_level": load.concurrency}
    lifecycle = {"summary": True, "per_stage": False, "per_request": False, "percentiles": [50, 99]}
    return {
        "api": {"type": "completion", "streaming": True},
        "data": {
            "type": "synthetic",
            "corpus_file_path": corpus,
            "input_distribution": always(PROMPT_BYTES),
            "output_distribution": always(load.n_tokens),
        },
        "load": {"type": "concurrent", "num_workers": 1, "interval": 0, "stages": [stage]},
        "server": {
            "type": "vllm",
            "model_name": load.model,
            "base_url": load.url,
            "ignore_eos": True,
        },
        "tokenizer": {"pretrained_model_name_or_path": str(load.tokenizer)},
        "report": {"request_lifecycle": lifecycle},
        "storage": {"local_storage": {"path": str(load.folder / RESULTS)}},
    }


def _read(load: Load) -> Reported:
    result = json.loads((load.folder / RESULTS / RESULT).read_text())
    latency = value(result, "successes", "latency")

    def of(metric: str) -> Spread | None:
        told: dict[str, Any] | None = latency.get(metric)
        return spread(told, KEYS, PER_MS) if told else None

    return Reported(
        requests=value(result, "successes", "count"),
        ttft=of("time_to_first_token"),
        gaps=of("inter_token_latency"),
        per_token=of("time_per_output_token"),
    )


INFERENCE_PERF = Peer(
    name="inference-perf",
    version="0.7.0",
    program="inference-perf",
    arguments=_arguments,
    read=_read,
    gaps_name="inter token latency",
    per_token_name="time per output token",
    pip_options=("--ignore-requires-python",),  # it asks for 3.12 and runs on 3.11
)
