"""A whole run of Headway as users start it, against the truth server: launch, spool, store."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from bench import truth_log
from bench.group_cpu import GroupCpu
from bench.open_store import open_store, wait_final
from bench.processes import cpu_s, truth_server
from bench.truth_join import Joined, join
from bench.truth_log import TruthLog
from loadgen import launch, plan
from loadgen.run_folder import RunFolder, runs_folder

TTFT_MS, ITL_MS, N_TOKENS = 100, 20, 128  # 50 tok/s per stream
LONGEST_S = 120


@dataclass(frozen=True, slots=True)
class TruthRun:
    """What a run left behind, and what the server it loaded says of it."""

    joined: Joined
    log: TruthLog  # of the load's requests
    cpu: GroupCpu
    server_cpu_s: float  # while serving, start-up left out
    pulses: pd.DataFrame

    @property
    def window_ns(self) -> tuple[int, int]:
        """From the first token sent to the last, on the monotonic line."""
        sent = self.log.tokens["mono_ns"]
        return int(sent.min()), int(sent.max())

    def cpu_us_per_event(self, role: str) -> float:
        """CPU of the role's processes per token event; a decoder's tail after the load counts."""
        begin_ns, end_ns = self.window_ns
        used_s = self.cpu.used_s(role, begin_ns, None if role == "decoder" else end_ns)
        return used_s * 1e6 / len(self.log.tokens)


def against_truth(concurrency: int, seconds: float) -> TruthRun:
    """One closed level of `concurrency` streams at 50 tok/s, joined with the truth."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        data, log_file = Path(folder), Path(folder) / "truth.log"
        with truth_server(log_file) as (url, pid):
            idle_s = cpu_s(pid)
            run_uid, cpu = _run(_plan(url, concurrency, seconds), data)
            server_cpu_s = cpu_s(pid) - idle_s
        log = truth_log.read(log_file)
        run = RunFolder(runs_folder(data) / run_uid).read("run.json")
        assert run is not None
        with open_store(data) as store:
            wait_final(store, run_uid)
            requests = store.ask("requests", run=run_uid)
            tokens = store.ask("token_events", run=run_uid)
            pulses = store.ask("pulses", run=run_uid)
        numbers = log.request_ids()  # the preflight's among them, and it comes seconds earlier
        log = log.only(numbers[x] for x in requests["x_request_id"] if x in numbers)
        return TruthRun(join(requests, tokens, log, run), log, cpu, server_cpu_s, pulses)


def _plan(url: str, concurrency: int, seconds: float) -> plan.Plan:
    return plan.parse(
        {
            "name": f"bench c={concurrency}",
            "target": {"url": url, "model": "truth"},
            "workload": {
                "prompt_tokens": 64,
                "output_tokens": N_TOKENS,
                "extra_body": {"ttft_ms": TTFT_MS, "itl_ms": ITL_MS},
            },
            "stages": [{"kind": "closed", "concurrency": concurrency, "seconds": seconds}],
        }
    )


def _run(wanted: plan.Plan, data: Path) -> tuple[str, GroupCpu]:
    """Start the run and wait for its end; raises AssertionError with its log if it failed."""
    run_uid = launch.start(wanted, data)
    folder = RunFolder(runs_folder(data) / run_uid)
    proc = folder.read("proc.json")
    assert proc is not None
    cpu = GroupCpu(proc["pgid"])
    cpu.start()
    try:
        status = wait_terminal(data, run_uid)
    finally:
        cpu.stop()
    assert status["state"] == "finished", f"{status}\n{(folder.path / 'log').read_text()[-3000:]}"
    return run_uid, cpu


def wait_terminal(data: Path, run_uid: str, longest_s: float = LONGEST_S) -> dict[str, Any]:
    """The run's last status; stops the run and raises AssertionError if it does not end."""
    deadline = time.monotonic() + longest_s
    while time.monotonic() < deadline:
        status = launch.state(data, run_uid)
        if launch.terminal(status["state"]):
            return status
        time.sleep(0.05)
    raise AssertionError(f"the run did not end within {longest_s} s: {launch.stop(data, run_uid)}")
