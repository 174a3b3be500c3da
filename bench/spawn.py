"""2,000 users of closed loop: how long until all of them are at work?"""

import tempfile
import time
from pathlib import Path

import numpy as np

from bench.figures import Figure
from bench.one_run import LONGEST_S
from bench.open_store import open_store, wait_final
from bench.processes import apart, pin, truth_server
from loadgen import launch, plan

USERS, SECONDS = 2000, 5
LOOK_EVERY_S = 0.005
# Slow answers, so that what is measured is not how fast the first of them are read.
PACE = {"ttft_ms": 2000, "itl_ms": 50}


def spawn(_turn: int) -> list[Figure]:
    """From the leader's asking for users to their connections, and to the first request of all."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder, apart() as last_core:
        data = Path(folder)
        with truth_server(data / "truth.log") as (url, pid):
            pin(pid, last_core)
            run_uid = launch.start(_plan(url), data)
            prepared_s = _prepared_s(data, run_uid)
        with open_store(data) as store:
            wait_final(store, run_uid)
            requests = store.ask("requests", run=run_uid)
            begin_us = int(store.ask("stages", run=run_uid)["begin_us"].iloc[0])
        sent_us = requests[requests["phase"] == "measure"]["send_us"].to_numpy(np.float64)
        first_us = np.sort(sent_us)[:USERS]
        spread_s = float(first_us[-1] - begin_us) / 1e6
        return [
            Figure("users that sent a request", len(first_us), "", f">= {USERS}"),
            Figure("users there, connections open", prepared_s, "s"),
            Figure("from the level's begin to each user's first request", spread_s, "s"),
            Figure("both together", prepared_s + spread_s, "s", "<= 2"),
        ]


def _prepared_s(data: Path, run_uid: str) -> float:
    """Seconds from the leader's asking for users to the level's beginning; waits for the end."""
    asked_s = begun_s = None
    deadline_s = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline_s:
        status = launch.state(data, run_uid)
        said = status["message"]
        if asked_s is None and said.startswith("Preparing"):
            asked_s = time.monotonic()
        if begun_s is None and said.startswith("Measuring"):
            begun_s = time.monotonic()
        if launch.terminal(status["state"]):
            assert status["state"] == "finished", status
            assert asked_s is not None, "the status never said that users were asked for"
            assert begun_s is not None, "the status never said that the level began"
            return begun_s - asked_s
        time.sleep(LOOK_EVERY_S)
    raise AssertionError(f"the run did not end within {LONGEST_S} s: {launch.stop(data, run_uid)}")


def _plan(url: str) -> plan.Plan:
    return plan.parse(
        {
            "name": f"bench spawn {USERS}",
            "target": {"url": url, "model": "truth"},
            "workload": {
                "prompt_tokens": 64,
                "output_tokens": 16,
                "extra_body": PACE,
                "count_by": "words",  # asking the endpoint would take as long as its answers do
            },
            "stages": [{"kind": "closed", "concurrency": USERS, "seconds": SECONDS}],
        }
    )
