"""How soon after its end is a 60 s sweep on the Run page?"""

import json
import tempfile
import time
from pathlib import Path

from analysis.show import show
from bench.figures import Figure
from bench.one_run import wait_terminal
from bench.open_store import open_store, wait_final
from loadgen import launch
from loadgen.plan import Plan, parse
from loadgen.run_folder import RunFolder, runs_folder

LEVELS, SECONDS = (1, 2, 4, 8, 16, 32), 10


def run_page(_turn: int) -> list[Figure]:
    """Seconds from the end of the last stream to every number of the page, a dashboard being up."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        data = Path(folder)
        with open_store(data) as store:
            run_uid = launch.start(_sweep(), data)
            status = wait_terminal(data, run_uid)
            wait_final(store, run_uid)
            final_ns = time.monotonic_ns()
            shown = show(store.ask, run_uid)
            shown_ns = time.monotonic_ns()
        assert status["state"] == "finished", status
        assert len(shown["levels"]) == len(LEVELS)
        end_ns = _end_ns(RunFolder(runs_folder(data) / run_uid))
    return [
        Figure("all rows in the tables", (final_ns - end_ns) / 1e9, "s"),
        Figure("every number of the page", (shown_ns - end_ns) / 1e9, "s", "<= 3"),
    ]


def _sweep() -> Plan:
    stages = [{"kind": "closed", "concurrency": c, "seconds": SECONDS} for c in LEVELS]
    target = {"url": "sim://small-gpu", "model": "demo"}
    return parse({"name": "bench sweep", "target": target, "stages": stages})


def _end_ns(folder: RunFolder) -> int:
    """Monotonic instant at which the last stream of the last stage had ended."""
    lines = (folder.path / "stages.jsonl").read_text().splitlines()
    run = folder.read("run.json")
    assert run is not None
    return run["t0_mono_ns"] + max(json.loads(line)["end_us"] or 0 for line in lines) * 1000
