"""GuideLLM, of the vLLM project: https://github.com/vllm-project/guidellm."""

import json

from bench.peers.peer import PROMPT_BYTES, Load, Peer, Reported, ResultError, Spread, value

RESULT = "result.json"


def _arguments(load: Load) -> list[str]:
    prompts = load.folder / "prompts.jsonl"
    counted = {"prompt_tokens_count": PROMPT_BYTES, "output_tokens_count": load.n_tokens}
    prompts.write_text("".join(json.dumps({"prompt": p} | counted) + "\n" for p in load.prompts()))
    backend = f"kind=openai_http,target={load.url},model={load.model}"
    return [
        *("run", "--backend", f"{backend},request_format=/v1/completions"),
        *("--profile", f"kind=concurrent,streams={load.concurrency}"),
        *("--constraint", f"kind=max_requests,count={load.requests}"),
        *("--data", f"kind=json_file,path={prompts}"),
        *("--tokenizer", f"kind=huggingface_auto,model={load.tokenizer}"),
        *("--output", f"kind=json,path={load.folder / RESULT}", "--disable-console"),
    ]


def _read(load: Load) -> Reported:
    result = json.loads((load.folder / RESULT).read_text())
    benchmarks = value(result, "benchmarks")
    if len(benchmarks) != 1:
        raise ResultError(f"its result holds {len(benchmarks)} benchmarks instead of 1")
    metrics = value(benchmarks[0], "metrics")

    def of(metric: str) -> Spread:
        told = value(metrics, metric, "successful")
        percentiles = value(told, "percentiles")
        mean = float(value(told, "mean"))
        return Spread(mean, float(value(percentiles, "p50")), float(value(percentiles, "p99")))

    return Reported(
        requests=value(metrics, "request_totals", "successful"),
        ttft=of("time_to_first_token_ms"),
        gaps=None,
        per_token=of("inter_token_latency_ms"),
    )


GUIDELLM = Peer(
    name="guidellm",
    version="0.8.1",
    program="guidellm",
    arguments=_arguments,
    read=_read,
    gaps_name="",
    per_token_name="ITL",
    # By default 10 processes, each of which imports torch: on one core that is minutes.
    env={"GUIDELLM__MAX_WORKER_PROCESSES": "1"},
)
