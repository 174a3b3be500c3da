"""Run folders as the load generator writes them, for tests of pages."""

import json
from pathlib import Path
from typing import Any

import orjson

from storage.buckets import bucket
from ui.demo import demo_plan

UID = "11111111-2222-4333-8444-555555555555"


def pulse(t_s: float, **changed: Any) -> dict[str, Any]:
    """A healthy second of a load worker."""
    return {
        "worker": 0,
        "t_us": round(t_s * 1e6),
        "stage": 0,
        "in_flight": 8,
        "sent": 10,
        "done": 2,
        "failed": 0,
        "not_sent": 0,
        "reads": 400,
        "missing_stamps": 0,
        "read_lag_p50_us": 40,
        "read_lag_p99_us": 300,
        "read_lag_max_us": 900,
        "send_lag_p99_us": None,
        "send_lag_max_us": None,
        "hub_late_max_us": 600,
        "gc_pause_max_us": 0,
        "cpu_share": 0.2,
        "rss_bytes": 1 << 27,
        "backlog_bytes": 0,
    } | changed


def live_line(t_s: float, **changed: Any) -> dict[str, Any]:
    """One decoder line: 100 tokens, 5 complete requests with a TTFT of 80 ms, gaps of 15 ms."""
    return {
        "t_us": round(t_s * 1e6),
        "pulse": pulse(t_s),
        "tokens": 100,
        "events": 100,
        "ttft": {str(int(bucket(80_000))): 5},
        "gap": {str(int(bucket(15_000))): 95},
        "outcomes": {"complete": 5},
        "last_error": None,
        "shared": 0,
        "missing_stamps": 0,
    } | changed


def append(folder: Path, *lines: dict[str, Any], worker: int = 0) -> None:
    """Live lines at the end of a worker's file."""
    with (folder / f"live-{worker}.jsonl").open("ab") as file:
        file.writelines(orjson.dumps(line) + b"\n" for line in lines)


def run_folder(data: Path, state: str, **changed: Any) -> Path:
    """A run of the demo plan in some state, without a process (its leader is not looked for)."""
    folder = data / "runs" / UID
    folder.mkdir(parents=True)
    plan = demo_plan()
    (folder / "plan.json").write_bytes(plan.to_json())
    status = {
        "run_uid": UID,
        "state": state,
        "stage": 2,
        "n_stages": 6,
        "stage_name": "c=4",
        "message": "",
        "elapsed_s": 25.0,
        "planned_s": 60.0,
        "done": 132,
        "failed": 0,
        "in_flight": 4,
        "updated_at": 0.0,
    } | changed
    (folder / "status.json").write_text(json.dumps(status))
    begun = {
        "run_uid": UID,
        "name": plan.name,
        "t0_mono_ns": 1,
        "epoch_ns": 1_790_000_000_000_000_000,
        "host": "h",
        "versions": {},
        "n_workers": 1,
        "target_url": "http://127.0.0.1:9",
        "stamps": "kernel",
        "cpu_count": 2,
        "preflight": {},
    }
    (folder / "run.json").write_text(json.dumps(begun))
    return folder
