"""What does one streamed event cost the load worker?  CPU time at 512 streams x 50 tok/s."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.frames import floats
from bench.client_error import run_at
from bench.figures import Figure
from bench.one_run import ITL_MS, N_TOKENS, TTFT_MS
from bench.processes import bare_client, truth_server

CONCURRENCY = 512


def client_cost(turn: int) -> list[Figure]:
    """Worker CPU per event, absolute and over the bare client's at the same load, minutes apart."""
    run = run_at(CONCURRENCY, turn)
    worker_us, decoder_us = (run.cpu_us_per_event(role) for role in ("worker", "decoder"))
    bare_us = _floor_us()
    n_events = len(run.log.tokens)
    return [
        Figure("worker CPU per event", worker_us, "µs", "<= 25"),
        Figure("worker and decoder CPU per event", worker_us + decoder_us, "µs", "<= 32"),
        Figure("bare recvmsg client CPU per event", bare_us, "µs"),
        Figure("worker over bare client", worker_us / bare_us, "x"),
        Figure("leader CPU per event", run.cpu_us_per_event("leader"), "µs"),
        Figure("truth server CPU per event", run.server_cpu_s * 1e6 / n_events, "µs"),
        Figure("events per second offered", n_events / (_seconds(run.window_ns)), "/s"),
        Figure("worker CPU share, highest pulse", _most(run.pulses, "cpu_share"), "core"),
        Figure("read lag p99, worst pulse", _most(run.pulses, "read_lag_p99_us"), "µs"),
    ]


def _most(pulses: pd.DataFrame, column: str) -> float:
    return float(np.nanmax(floats(pulses, column)))


def _seconds(window_ns: tuple[int, int]) -> float:
    return (window_ns[1] - window_ns[0]) / 1e9


def _floor_us() -> float:
    with tempfile.TemporaryDirectory() as folder, truth_server(Path(folder) / "log") as (url, _):
        floor = bare_client(url, CONCURRENCY, N_TOKENS, (TTFT_MS, ITL_MS))
    return floor.cpu_s * 1e6 / floor.n_events
