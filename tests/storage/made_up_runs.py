"""Run folders as the load generator leaves them, small and made up, and the tables they become."""

import json
import resource
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from storage.column_spool import (
    COUNTS_SEQ,
    TOKENIZER_COUNT,
    column_path,
    write_columns,
    write_counts,
)
from storage.database import Database
from storage.intake import Intake
from storage.queries import QUERIES
from storage.records import TOKEN_EVENT, Pulse, RequestRow

EPOCH_NS = 1_790_000_000_000_000_000
PLAN = {
    "name": "demo",
    "target": {"url": "sim://small-gpu", "model": "m", "api": "openai_chat"},
    "stages": [
        {"kind": "closed", "concurrency": 1, "seconds": 10},
        {"kind": "closed", "concurrency": 4, "seconds": 10},
    ],
}


@contextmanager
def no_file_longer_than(n_bytes: int) -> Generator[None]:
    """To DuckDB the same as a full disk: writes beyond fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Tables:
    """A database of its own, fed from `data` by turns; its answers as lists of dicts."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.database = Database(data)
        self.intake = Intake(self.database, data)

    def turn(self) -> bool:
        """One turn, as if the pauses between loads and summaries were over."""
        for run in self.intake._followed.values():
            run.loaded_at_s = run.summed_at_s = run.resume_at_s = 0.0
        self.intake._look_back_at_s = 0.0
        return self.intake.turn()

    def ask(self, name: str, **args: Any) -> list[dict[str, Any]]:
        with self.database.cursor() as cursor:
            return QUERIES[name](cursor, **args).to_pylist()

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        with self.database.cursor() as cursor:
            return cursor.execute(text).fetchall()


class RunFolder:
    """A run of two stages of ten seconds, c=1 and c=4."""

    def __init__(self, data: Path, name: str = "demo", n_workers: int = 1) -> None:
        self.uid = str(uuid.uuid4())
        self.path = data / "runs" / self.uid
        self.spool = self.path / "spool"
        self.spool.mkdir(parents=True)
        self.n_workers = n_workers
        self.write("plan.json", {**PLAN, "name": name})
        self.write("run.json", self._begun(name))
        self.state("running")
        self.stage(0, 1, 0, None, None)

    def write(self, name: str, content: dict[str, Any]) -> None:
        (self.path / name).write_text(json.dumps(content))

    def state(self, state: str, **more: Any) -> None:
        self.write("status.json", {"state": state, "updated_at": EPOCH_NS / 1e9 + 30, **more})

    def stage(
        self,
        stage: int,
        concurrency: int,
        begin_us: int,
        issue_end_us: int | None,
        end_us: int | None,
    ) -> None:
        row = {"stage": stage, "name": f"c={concurrency}", "kind": "closed", "rate_per_s": None}
        row |= {"concurrency": concurrency, "begin_us": begin_us}
        row |= {"issue_end_us": issue_end_us, "end_us": end_us}
        with (self.path / "stages.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def columns(self, seq: int, streams: "list[Stream]", worker: int = 0) -> None:
        """One column segment with these whole streams."""
        tokens = np.concatenate([np.zeros(0, TOKEN_EVENT), *(s.tokens for s in streams)])
        requests = [s.request for s in streams]
        write_columns(column_path(self.spool, worker, seq), tokens, requests, [pulse(worker, seq)])

    def tokens_only(self, seq: int, stream: "Stream", worker: int = 0) -> None:
        """A column segment with a stream that has not ended yet."""
        write_columns(column_path(self.spool, worker, seq), stream.tokens, [], [])

    def counts(self, counts: dict[int, int], worker: int = 0) -> None:
        """What a tokenizer found in the text of these requests."""
        rows = np.array(list(counts.items()), TOKENIZER_COUNT)
        write_counts(column_path(self.spool, worker, COUNTS_SEQ), rows)

    def end(self, state: str = "finished") -> None:
        for worker in range(self.n_workers):
            (self.spool / f"decoded-w{worker}").touch()
        self.state(state)

    def _begun(self, name: str) -> dict[str, Any]:
        return {
            "run_uid": self.uid,
            "name": name,
            "t0_mono_ns": time.monotonic_ns(),
            "epoch_ns": EPOCH_NS,
            "host": "h",
            "versions": {"headway": "0.1.0"},
            "n_workers": self.n_workers,
            "target_url": "http://127.0.0.1:9",
            "stamps": "kernel",
            "cpu_count": 2,
            "preflight": {"ok": True},
        }


class Stream:
    """One request of stage `stage`, sent at `send_us`: TTFT `ttft_us`, then gaps of `gaps_us`."""

    def __init__(
        self,
        request_id: int,
        send_us: int = 1_000_000,
        ttft_us: int = 50_000,
        gaps_us: tuple[int, ...] = (20_000,) * 9,
        stage: int = 0,
        told: tuple[int, ...] | None = None,  # tokens per chunk as the server tells them
        **changes: Any,
    ) -> None:
        n = len(gaps_us) + 1
        self.tokens = np.zeros(n, TOKEN_EVENT)
        self.tokens["request_id"] = request_id
        self.tokens["seq"] = np.arange(n)
        self.tokens["t_us"] = send_us + ttft_us + np.cumsum([0, *gaps_us])
        self.tokens["gap_us"] = [-1, *gaps_us]
        self.tokens["n_tokens"] = told or 0
        self.tokens["lag_us"] = 7
        last_us = int(self.tokens["t_us"][-1])
        values: dict[str, Any] = {
            "request_id": request_id,
            "x_request_id": f"u-{request_id}",
            "worker": 0,
            "stage": stage,
            "phase": "measure",
            "outcome": "complete",
            "dispatched_us": send_us - 100,
            "send_us": send_us,
            "first_token_us": send_us + ttft_us,
            "first_visible_us": send_us + ttft_us,
            "last_token_us": last_us,
            "end_us": last_us + 500,
            "http_status": 200,
            "output_tokens": sum(told) if told else n,
            "token_source": "usage",
            "n_chunks": n,
            "first_chunk_tokens": told[0] if told else None,
            "other_events": {"role": 1},
        }
        self.request = RequestRow(**(values | changes))


def pulse(worker: int, second: int) -> dict[str, Any]:
    return asdict(
        Pulse(
            worker, second * 1_000_000, 0, 4, 10, 6, 0, 0, 100, 0,
            read_lag_p50_us=5, read_lag_p99_us=20, read_lag_max_us=30, send_lag_p99_us=None,
            send_lag_max_us=None, hub_late_max_us=100, gc_pause_max_us=None, cpu_share=0.1,
            rss_bytes=1 << 26, backlog_bytes=0,
        )
    )  # fmt: skip
