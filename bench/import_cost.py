"""A large result file of another tool, from the command's start until its rows can be asked for."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bench.figures import Figure
from bench.open_store import open_store, store_pid

N_REQUESTS, N_GAPS = 1000, 256
ASKED_S = 2.0


def import_cost(turn: int) -> list[Figure]:
    """`headway import` of a vLLM file with 256 gaps in each of 1,000 requests."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        data, path = Path(folder) / "data", Path(folder) / "result.json"
        path.write_text(json.dumps(vllm_file(random.Random(turn))))
        with open_store(data) as store:
            store.ask("runs")  # a store that has answered once, as beside an open dashboard
            began = time.monotonic()
            cpu_s = _cpu_s(data)
            told, own_s = _import(path, data)
            took_s = time.monotonic() - began
            cpu_s = _cpu_s(data) - cpu_s
            n = int(store.ask("run", run=told)["n_events"].iloc[0])
        cold = Path(folder) / "cold"
        began = time.monotonic()
        _import(path, cold)
        cold_s = time.monotonic() - began
        with open_store(cold):
            pass
    assert n == N_REQUESTS * (N_GAPS + 1), f"{n} token events arrived"
    return [
        Figure("start of the command to rows to be asked for", took_s, "s", f"<= {ASKED_S}"),
        Figure("CPU of the command and the store", own_s + cpu_s, "s", f"<= {ASKED_S}"),
        Figure("CPU of the command", own_s, "s"),
        Figure("CPU of the store", cpu_s, "s"),
        Figure("the same where no store runs yet", cold_s, "s"),
        Figure("token events", n, ""),
    ]


def vllm_file(draw: random.Random) -> dict[str, object]:
    """The current schema; every value is made up."""
    gaps = [[draw.gauss(0.02, 0.002) for _ in range(N_GAPS)] for _ in range(N_REQUESTS)]
    ttfts = [draw.uniform(0.05, 0.2) for _ in range(N_REQUESTS)]
    return {
        "date": "20260102-030405",
        "backend": "vllm",
        "model_id": "made-up",
        "tokenizer_id": "made-up",
        "num_prompts": N_REQUESTS,
        "request_rate": "inf",
        "max_concurrency": 64,
        "duration": 100.0,
        "completed": N_REQUESTS,
        "input_lens": [256] * N_REQUESTS,
        "output_lens": [N_GAPS + 1] * N_REQUESTS,
        "ttfts": ttfts,
        "itls": gaps,
        "latencies": [t + sum(g) for t, g in zip(ttfts, gaps, strict=True)],
        "start_times": [k * 0.1 for k in range(N_REQUESTS)],
        "generated_texts": [" word" * (N_GAPS + 1)] * N_REQUESTS,
        "errors": [""] * N_REQUESTS,
    }


def _import(path: Path, data: Path) -> tuple[str, float]:
    """(run_uid, CPU seconds of the command)."""
    before = os.times()
    said = subprocess.run(
        [sys.executable, "-m", "cli", "import", str(path)],
        env=os.environ | {"HEADWAY_DATA": str(data)},
        capture_output=True,
        text=True,
        check=True,
    )
    after = os.times()
    spent = after.children_user - before.children_user
    spent += after.children_system - before.children_system
    return said.stdout.split("run ")[1][:36], spent


def _cpu_s(data: Path) -> float:
    spent = psutil.Process(store_pid(data)).cpu_times()
    return spent.user + spent.system
