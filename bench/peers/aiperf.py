"""AIPerf, NVIDIA's load generator: https://github.com/ai-dynamo/aiperf."""

import json
import shutil
from pathlib import Path
from typing import Any

from bench.peers.peer import Load, Peer, Reported, Spread, spread, value

RESULTS = "results"
RESULT = "profile_export_aiperf.json"
# Offline it looks for tokenizers in the hub's cache only; a folder's path it takes for a hub name.
CACHED_AS = "headway/truth"
CACHE = "hf/hub/models--headway--truth"
KEYS = ("avg", "p50", "p99")


def _arguments(load: Load) -> list[str]:
    prompts = load.folder / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"text": p}) + "\n" for p in load.prompts()))
    return [
        *("profile", "--model", load.model, "--url", load.url, "--tokenizer", CACHED_AS),
        *("--endpoint-type", "completions", "--streaming", "--use-legacy-max-tokens"),
        *("--input-file", str(prompts), "--custom-dataset-type", "single_turn"),
        *("--concurrency", str(load.concurrency), "--request-count", str(load.requests)),
        *("--osl", str(load.n_tokens), "--workers-max", "1", "--ui", "none"),
        *("--no-server-metrics", "--no-gpu-telemetry", "--export-level", "summary"),
        *("--output-artifact-dir", str(load.folder / RESULTS)),
    ]


def _read(load: Load) -> Reported:
    result = json.loads((load.folder / RESULTS / RESULT).read_text())

    def of(metric: str) -> Spread | None:
        told: dict[str, Any] | None = result.get(metric)
        return spread(told, KEYS) if told else None

    return Reported(
        requests=int(value(result, "request_count", "avg")),
        ttft=of("time_to_first_token"),
        gaps=of("inter_chunk_latency"),
        per_token=of("inter_token_latency"),
    )


def _finish(environment: Path) -> None:
    cache = environment / CACHE
    (cache / "refs").mkdir(parents=True, exist_ok=True)
    (cache / "refs" / "main").write_text("local")
    shutil.copytree(environment / "tokenizer", cache / "snapshots" / "local", dirs_exist_ok=True)


AIPERF = Peer(
    name="aiperf",
    version="0.13.0",
    program="aiperf",
    arguments=_arguments,
    read=_read,
    gaps_name="inter chunk latency",
    per_token_name="inter token latency (tokens by its own tokenizer)",
    finish=_finish,
)
