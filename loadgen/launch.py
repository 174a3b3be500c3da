"""Start, stop and reconcile a run as a detached process group.  No gevent, no locust here.

The run's folder is the truth; whoever reads it (dashboard, command line) keeps no state of its own,
so that a run outlives the process that started it.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psutil

from loadgen.plan import Plan
from loadgen.plan_paths import with_whole_paths
from loadgen.processes import alive, command, command_runs, group, identity, kill
from loadgen.run_folder import RunFolder, runs_folder, terminal

STOP_WITHIN_S = 3.0
STOP_ALL_WITHIN_S = 15.0  # where other machines have a part of what was measured
PROJECT = Path(__file__).resolve().parent.parent
MOST_DECODINGS = 3  # by reconcile; a decoder that dies each time would be started for ever
_settled: set[Path] = set()  # ended and decoded: nothing there will change, nobody need look again
_children: list[subprocess.Popen[bytes]] = []  # polled, so that an ended leader is no zombie


class LaunchError(RuntimeError):
    """The run could not be started or found; the message says what, where and what to do."""


def start(plan: Plan, data: Path, env: dict[str, str] | None = None) -> str:
    """Start the run in a process group of its own and return its run_uid.

    env: variables beside the caller's own, such as a key typed into a password field; they reach
    the run's processes only and no file.  Raises LaunchError if the data folder cannot be written.
    """
    folder = RunFolder(runs_folder(data) / str(uuid.uuid4()))
    try:
        folder.spool.mkdir(parents=True)
        (folder.path / "plan.json").write_bytes(with_whole_paths(plan).to_json())
        folder.write("status.json", _first_status(folder.run_uid, plan))
        log = (folder.path / "log").open("ab")
    except OSError as error:
        raise LaunchError(
            f"The data folder {data} cannot be written ({error.strerror or error}); "
            "choose another with HEADWAY_DATA or free the disk."
        ) from None
    with log:
        leader = subprocess.Popen(
            [sys.executable, "-m", "loadgen.lead", str(folder.path)],
            cwd=PROJECT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _children.append(leader)
    folder.write("proc.json", identity(leader.pid))
    return folder.run_uid


def stop(data: Path, run_uid: str) -> dict[str, Any]:
    """End the run's process group within 3 s, keeping what was measured; returns its state.

    A run with load workers on other machines is given 15 s to fetch what they measured.
    """
    folder = _folder(data, run_uid)
    (folder.path / "stop").touch()
    proc = folder.read("proc.json")
    if proc and (leader := alive(proc)):
        with contextlib.suppress(psutil.NoSuchProcess):
            leader.send_signal(signal.SIGTERM)
        has_machines = ((folder.read("plan.json") or {}).get("machines") or {}).get("workers")
        within_s = STOP_ALL_WITHIN_S if has_machines else STOP_WITHIN_S
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline and alive(proc):
            time.sleep(0.05)
        kill(group(proc))
    reconcile(data)
    return state(data, run_uid)


def state(data: Path, run_uid: str) -> dict[str, Any]:
    """The run's status.json, `interrupted` if its leader is gone; raises LaunchError if unknown."""
    folder = _folder(data, run_uid)
    status = folder.read("status.json")
    if status is None:
        raise LaunchError(f"Run {run_uid} has no status in {folder.path}; its folder is damaged.")
    if not terminal(status["state"]) and _leader_gone(folder):
        reconcile(data)
        status = folder.read("status.json") or status
    return status


def running(data: Path) -> list[str]:
    """run_uids that have not ended, oldest first."""
    folders = [f for f in _folders(data) if f.path not in _settled]
    return [f.run_uid for f in folders if not terminal(_state_of(f))]


def reconcile(data: Path) -> list[str]:
    """Make each folder agree with its processes; returns the runs found interrupted.

    A run whose leader is gone ends as `interrupted` (or `stopped`, if that was asked for):
    surviving load workers are ended, and raw reads that nobody decoded yet are decoded now.
    """
    for child in _children[:]:
        if child.poll() is not None:
            _children.remove(child)
    with _only_one(data) as mine:
        if not mine:
            return []
        folders = [f for f in _folders(data) if f.path not in _settled]
        return [f.run_uid for f in folders if _reconcile_run(f)]


def _reconcile_run(folder: RunFolder) -> bool:
    ended = terminal(_state_of(folder))
    if not ended and not _leader_gone(folder):
        return False
    if not ended and (proc := folder.read("proc.json")):
        kill(p for p in group(proc) if "loadgen.decoder" not in command(p))
    for worker in folder.undecoded():
        if command_runs(["loadgen.decoder", str(folder.path), str(worker)]):
            continue
        if folder.count_decoding(worker) > MOST_DECODINGS:
            _give_up_decoding(folder, worker)
        else:
            _children.append(_decode(folder, worker))
    if not ended:
        _mark_ended(folder)
    elif not folder.undecoded():
        _settled.add(folder.path)
    return not ended


def _give_up_decoding(folder: RunFolder, worker: int) -> None:
    """Raw reads no decoder survives stay where they are, and the run says so."""
    folder.mark_decoded(worker)
    status = folder.read("status.json") or {}
    status["message"] = (
        f"{status.get('message', '')} Some raw reads of load worker {worker} could not be decoded; "
        f"they are kept in {folder.spool}. The run's log says why: please report it."
    ).strip()
    folder.write("status.json", status)


def _mark_ended(folder: RunFolder) -> None:
    status = folder.read("status.json") or {"run_uid": folder.run_uid}
    asked = (folder.path / "stop").exists()
    where = status.get("stage_name") or "its start"
    status["state"] = "stopped" if asked else "interrupted"
    status["message"] = (
        f"Stopped at {where}; what was measured until then is kept."
        if asked
        else f"The load generator's main process ended unexpectedly at {where}; what was measured "
        "until then is kept. See the run's log for the reason, then start the run again."
    )
    status["updated_at"] = time.time()
    folder.write("status.json", status)


def _first_status(run_uid: str, plan: Plan) -> dict[str, Any]:
    return {
        "run_uid": run_uid,
        "state": "queued",
        "stage": 0,
        "n_stages": len(plan.stages),
        "stage_name": "",
        "message": "Waiting for the load generator to start.",
        "elapsed_s": 0.0,
        "planned_s": None,
        "done": 0,
        "failed": 0,
        "in_flight": 0,
        "updated_at": time.time(),
    }


def _leader_gone(folder: RunFolder) -> bool:
    proc = folder.read("proc.json")
    if proc is None:  # being started right now, or its starter died between two lines
        return time.time() - folder.path.stat().st_mtime > 10
    return alive(proc) is None


def _decode(folder: RunFolder, worker: int) -> subprocess.Popen[bytes]:
    with (folder.path / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "loadgen.decoder", str(folder.path), str(worker)],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _state_of(folder: RunFolder) -> str:
    status = folder.read("status.json")
    return status["state"] if status else "queued"


def _folders(data: Path) -> list[RunFolder]:
    """Run folders, oldest first; one without a plan is still being made."""
    made = [p for p in runs_folder(data).glob("*/plan.json")]
    return [RunFolder(p.parent) for p in sorted(made, key=lambda p: p.stat().st_mtime)]


def _folder(data: Path, run_uid: str) -> RunFolder:
    folder = RunFolder(runs_folder(data) / run_uid)
    if not folder.path.is_dir():
        raise LaunchError(f"There is no run {run_uid} in {runs_folder(data)}.")
    return folder


@contextlib.contextmanager
def _only_one(data: Path) -> Generator[bool]:
    """True for one caller at a time; the others find the work being done."""
    if not runs_folder(data).is_dir():
        yield False
        return
    with (runs_folder(data) / ".reconcile.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
