"""A trace replayed at ten times its speed: how late does a request begin?

The trace is the file that HEADWAY_BENCH_TRACE names (Azure's code trace of 2023 is meant), else one
made here with as many requests, as long prompts and answers, and arrivals in bursts as it has.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

from bench.figures import Figure
from bench.one_run import Load, stage_against_truth
from bench.open_loop import lateness

SPEED, FROM_S, TO_S = 10, 0, 900
REQUESTS, LASTS_S, PROMPT_TOKENS, OUTPUT_TOKENS = 8819, 3436, 2048, 28


def trace_replay(_turn: int) -> list[Figure]:
    """Lateness of the first fifteen minutes' requests, sent within ninety seconds."""
    with tempfile.TemporaryDirectory(prefix="headway-trace-") as folder:
        named = os.environ.get("HEADWAY_BENCH_TRACE")
        file = Path(named) if named else _made(Path(folder) / "made.csv")
        stage = {"kind": "replay", "file": str(file.absolute()), "speed": SPEED, "to_s": TO_S}
        run = stage_against_truth(stage, Load(n_tokens=OUTPUT_TOKENS))
    name = "a named trace" if named else "a made trace"
    return lateness(run, f"{name} x{SPEED} ", 5)


def _made(file: Path) -> Path:
    """Requests whose gaps are gamma of shape 0.25: bursts, as programmers' tools send them."""
    rng = np.random.default_rng(1)
    gaps_s = rng.gamma(0.25, LASTS_S / REQUESTS / 0.25, REQUESTS)
    prompts = rng.lognormal(np.log(PROMPT_TOKENS) - 0.5, 1, REQUESTS).clip(1, 8000)
    outputs = rng.lognormal(np.log(OUTPUT_TOKENS) - 0.5, 1, REQUESTS).clip(1, 2000)
    rows = zip(np.cumsum(gaps_s), prompts.astype(int), outputs.astype(int), strict=True)
    lines = [f"{t_s:.6f},{prompt},{output}" for t_s, prompt, output in rows]
    file.write_text("\n".join(["t_s,prompt_tokens,output_tokens", *lines]) + "\n")
    return file
