"""A whole run of Headway as users start it, against the truth server: launch, spool, store."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import trustme

from bench import truth_log
from bench.group_cpu import GroupCpu
from bench.open_store import open_store, wait_final
from bench.processes import apart, cpu_s, pin, truth_server
from bench.truth_join import Joined, join
from bench.truth_log import TruthLog
from loadgen import launch, plan
from loadgen.run_folder import RunFolder, runs_folder

TTFT_MS, ITL_MS, N_TOKENS = 100, 20, 128  # 50 tok/s per stream
LONGEST_S = 120


@dataclass(frozen=True, slots=True)
class Load:
    """What each stream is (pace, length, TLS or not), and how many load workers carry them."""

    itl_ms: float = ITL_MS
    n_tokens: int = N_TOKENS
    is_tls: bool = False
    workers: int = 1


@dataclass(frozen=True, slots=True)
class TruthRun:
    """What a run left behind, and what the server it loaded says of it."""

    joined: Joined
    log: TruthLog  # of the load's requests
    cpu: GroupCpu
    server_cpu_s: float  # while serving, start-up left out
    pulses: pd.DataFrame
    requests: pd.DataFrame
    t0_mono_ns: int  # of the run's line, on the monotonic clock

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


def against_truth(concurrency: int, seconds: float, load: Load = Load()) -> TruthRun:
    """One closed level of `concurrency` streams, joined with the truth."""
    stage = {"kind": "closed", "concurrency": concurrency, "seconds": seconds}
    return stage_against_truth(stage, load)


def stage_against_truth(stage: dict[str, Any], load: Load = Load()) -> TruthRun:
    """A run of this one stage, joined with the truth.

    Where there are two cores the server has the last one for itself, the run's processes the rest.
    """
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder, apart() as last_core:
        data, log_file = Path(folder), Path(folder) / "truth.log"
        authority = data / "authority.pem" if load.is_tls else None
        more = ["--tls", str(certificate(data))] if load.is_tls else []
        with truth_server(log_file, *more) as (url, pid):
            pin(pid, last_core)
            idle_s = cpu_s(pid)
            run_uid, cpu = _run(_plan(url, stage, load, authority), data)
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
        joined = join(requests, tokens, log, run)
        return TruthRun(joined, log, cpu, server_cpu_s, pulses, requests, run["t0_mono_ns"])


def certificate(folder: Path) -> Path:
    """A key with its certificate for 127.0.0.1 in one file, and authority.pem beside it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    made = folder / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(made))
    return made


def _plan(url: str, stage: dict[str, Any], load: Load, authority: Path | None) -> plan.Plan:
    target: dict[str, Any] = {"url": url, "model": "truth"}
    if authority is not None:
        target["ca_file"] = str(authority)
    return plan.parse(
        {
            "name": f"bench {stage['kind']}",
            "target": target,
            "workload": {
                "prompt_tokens": 64,
                "output_tokens": load.n_tokens,
                "extra_body": {"ttft_ms": TTFT_MS, "itl_ms": load.itl_ms},
            },
            "stages": [stage],
            "workers": load.workers,
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
