"""A run's folder as load generator and decoders leave it, filled with made-up events."""

import os
import uuid
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from bench.made_events import STREAMS, WORKERS, Segment
from loadgen.plan import parse
from loadgen.run_folder import RunFolder, runs_folder
from storage.column_spool import column_path, write_columns
from storage.records import Pulse, StageRow


def write_made(folder: Path, made: Iterable[Segment]) -> tuple[int, int]:
    """Column segments into a folder of their own; returns how many events, and their last µs."""
    folder.mkdir(parents=True)
    n_events = end_us = 0
    for segment in made:
        write_segment(folder, segment)
        n_events += len(segment.tokens)
        end_us = max(end_us, int(segment.tokens["t_us"].max(initial=0)))
    return n_events, end_us


def run_of(data: Path, made: Path, end_us: int) -> str:
    """A whole run of segments made before, visible to the store at once; returns its uid."""
    folder = new_folder(data)
    for path in made.iterdir():
        os.link(path, folder.spool / path.name)
    announce(folder, end_us + 1)
    for worker in range(WORKERS):
        (folder.spool / f"decoded-w{worker}").touch()
    folder.write("status.json", {"run_uid": folder.run_uid, "state": "finished"})
    show(folder)
    return folder.run_uid


def new_folder(data: Path) -> RunFolder:
    """An empty run folder that the store does not see before `show`."""
    folder = RunFolder(runs_folder(data) / str(uuid.uuid4()))
    folder.spool.mkdir(parents=True)
    return folder


def write_segment(spool: Path, segment: Segment) -> None:
    """One column segment, with the worker's pulse of that second."""
    pulse = Pulse(
        segment.worker, segment.seq * 1_000_000, 0, STREAMS // WORKERS, 100, 90, 0, 0, 20_000, 0,
        read_lag_p50_us=50, read_lag_p99_us=250, read_lag_max_us=900, send_lag_p99_us=None,
        send_lag_max_us=None, hub_late_max_us=300, gc_pause_max_us=None, cpu_share=0.5,
        rss_bytes=1 << 26, backlog_bytes=0,
    )  # fmt: skip
    path = column_path(spool, segment.worker, segment.seq)
    write_columns(path, segment.tokens, segment.requests, [asdict(pulse)])


def announce(folder: RunFolder, end_us: int | None) -> None:
    """run.json and the one level; end_us: None while it goes on."""
    issue_end = None if end_us is None else end_us
    stage = StageRow(0, f"c={STREAMS}", "closed", STREAMS, None, 0, issue_end, end_us)
    folder.append("stages.jsonl", {s: getattr(stage, s) for s in StageRow.__slots__})
    begun = {"run_uid": folder.run_uid, "t0_mono_ns": 0, "epoch_ns": 0, "n_workers": WORKERS}
    folder.write("run.json", {**begun, "stamps": "kernel"})


def show(folder: RunFolder) -> None:
    """The plan, which makes a folder a run."""
    plan = parse(
        {
            "target": {"url": "http://127.0.0.1:1", "model": "none"},
            "stages": [{"kind": "closed", "concurrency": STREAMS, "seconds": 600}],
        }
    )
    (folder.path / "plan.json").write_bytes(plan.to_json())
