"""What do a million token events cost the store: to load, to keep, to ask?"""

import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from bench.figures import Figure
from bench.open_store import open_store, store_pid, wait_final
from bench.processes import cpu_s
from loadgen.plan import parse
from loadgen.run_folder import RunFolder, runs_folder
from storage.client import Store
from storage.column_spool import column_path, write_columns
from storage.records import TOKEN_EVENT, RequestRow, StageRow

N_SEGMENTS, STREAMS, N_TOKENS, ITL_US = 20, 400, 125, 20_000  # 1,000,000 events
N_EVENTS = N_SEGMENTS * STREAMS * N_TOKENS
SEGMENT_US = N_TOKENS * ITL_US


def store_cost(_turn: int) -> list[Figure]:
    """Store CPU per event, bytes per event in the file, the exact quantile query over all."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        data = Path(folder)
        with open_store(data) as store:
            pid = store_pid(data)
            before_s, begin_s = cpu_s(pid), time.perf_counter()
            run_uid = _finished_run(data)
            wait_final(store, run_uid)
            wall_s, used_s = time.perf_counter() - begin_s, cpu_s(pid) - before_s
            quantiles_ms = _ask_ms(store, run_uid)
        n_bytes = (data / "headway.duckdb").stat().st_size
    return [
        Figure("store CPU per event", used_s * 1e6 / N_EVENTS, "µs"),
        Figure("events loaded per second, writing them included", N_EVENTS / wall_s, "/s"),
        Figure("file size per event", n_bytes / N_EVENTS, "B"),
        Figure("exact gap quantiles of all events", quantiles_ms, "ms"),
    ]


def _ask_ms(store: Store, run_uid: str) -> float:
    begin_s = time.perf_counter()
    window = {"w0_us": 0, "w1_us": N_SEGMENTS * SEGMENT_US + 1}
    answer = store.ask("gap_quantiles", run=run_uid, stage=0, qs=[0.5, 0.95, 0.99], **window)
    assert len(answer) > 0
    return (time.perf_counter() - begin_s) * 1e3


def _finished_run(data: Path) -> str:
    """A run's folder as decoders leave it: sealed column segments, everything decoded."""
    folder = RunFolder(runs_folder(data) / str(uuid.uuid4()))
    folder.spool.mkdir(parents=True)
    plan = parse(
        {
            "target": {"url": "http://127.0.0.1:1", "model": "none"},
            "stages": [{"kind": "closed", "concurrency": STREAMS, "seconds": 60}],
        }
    )
    end_us = N_SEGMENTS * SEGMENT_US
    stage = StageRow(0, f"c={STREAMS}", "closed", STREAMS, None, 0, end_us, end_us)
    folder.append("stages.jsonl", {s: getattr(stage, s) for s in StageRow.__slots__})
    folder.write("run.json", {"run_uid": folder.run_uid, "t0_mono_ns": 0, "epoch_ns": 0})
    for seq in range(N_SEGMENTS):
        path = column_path(folder.spool, 0, seq)
        write_columns(path, _tokens(seq), _requests(seq), [])
    (folder.spool / "decoded-w0").touch()
    folder.write("status.json", {"run_uid": folder.run_uid, "state": "finished"})
    (folder.path / "plan.json").write_bytes(plan.to_json())
    return folder.run_uid


def _tokens(segment: int) -> np.ndarray:
    """STREAMS whole answers, each token about 20 ms after the one before it."""
    rng = np.random.default_rng(segment)
    tokens = np.zeros((STREAMS, N_TOKENS), TOKEN_EVENT)
    tokens["request_id"] = (segment * STREAMS + np.arange(STREAMS))[:, None]
    tokens["seq"] = np.arange(N_TOKENS)
    jitter_us = rng.integers(0, 2_000, (STREAMS, N_TOKENS))
    tokens["t_us"] = segment * SEGMENT_US + tokens["seq"] * ITL_US + jitter_us
    tokens["gap_us"][:, 1:] = np.diff(tokens["t_us"], axis=1)
    tokens["gap_us"][:, 0] = -1
    tokens["lag_us"] = rng.integers(10, 500, (STREAMS, N_TOKENS))
    return np.sort(tokens.ravel(), order="t_us", kind="stable")


def _requests(segment: int) -> list[RequestRow]:
    begin_us = segment * SEGMENT_US
    return [
        RequestRow(
            request_id=segment * STREAMS + i,
            x_request_id=f"bench-{segment}-{i}",
            worker=0,
            stage=0,
            phase="measure",
            outcome="complete",
            dispatched_us=begin_us,
            send_us=begin_us,
            first_token_us=begin_us + 1_000,
            last_token_us=begin_us + SEGMENT_US - 1,
            end_us=begin_us + SEGMENT_US - 1,
            output_tokens=N_TOKENS,
            n_chunks=N_TOKENS,
        )
        for i in range(STREAMS)
    ]
