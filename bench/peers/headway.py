"""Headway as its users run it: `headway run PLAN --json FILE`, with this very Python."""

import json
from pathlib import Path
from typing import Any

from bench.peers.peer import Load, Peer, Reported, ResultError, Spread, spread, value

ROOT = Path(__file__).resolve().parents[2]
RESULT = "result.json"
DATA = "data"  # of HEADWAY_DATA, which side_by_side.py sets for every tool
KEYS = ("mean", "p50", "p99")


def _arguments(load: Load) -> list[str]:
    plan = load.folder / "plan.json"
    plan.write_text(json.dumps(_plan(load), indent=1))
    return [str(ROOT / "cli.py"), "run", str(plan), "--json", str(load.folder / RESULT)]


def _plan(load: Load) -> dict[str, Any]:
    return {
        "name": f"beside others c={load.concurrency}",
        "target": {"url": load.url, "model": load.model, "api": "openai_completions"},
        "workload": {"prompt_tokens": 20, "output_tokens": load.n_tokens},
        "stages": [{"concurrency": load.concurrency, "requests": load.requests}],
    }


def _read(load: Load) -> Reported:
    result = json.loads((load.folder / RESULT).read_text())
    levels = value(result, "levels")
    if len(levels) != 1:
        raise ResultError(f"its result holds {len(levels)} levels instead of 1")
    metrics, window = value(levels[0], "metrics"), value(levels[0], "window")
    t0_ns = _time_zero_ns(load.folder / DATA, value(result, "run", "uid"))

    def of(metric: str) -> Spread:
        return spread(value(metrics, metric), KEYS)

    return Reported(
        requests=value(result, "outcomes").get("complete", 0),
        ttft=of("ttft"),
        gaps=of("chunk_gap"),
        per_token=of("tpot"),
        window_ns=(t0_ns + window["begin_us"] * 1000, t0_ns + window["end_us"] * 1000),
        remark=value(levels[0], "validity", "verdict"),
    )


def _time_zero_ns(data: Path, run_uid: str) -> int:
    return value(json.loads((data / "runs" / run_uid / "run.json").read_text()), "t0_mono_ns")


HEADWAY = Peer(
    name="headway",
    version="this one",
    program="python",
    arguments=_arguments,
    read=_read,
    gaps_name="chunk gap",
    per_token_name="TPOT",
)
