"""Which processes belong to a run, told apart from later ones that got the same number."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil


def identity(pid: int) -> dict[str, Any]:
    """What proc.json says of a leader: its pid (also its process group's) and its birth."""
    try:
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:  # ended already: reconcile will say so
        created = 0.0
    return {"pid": pid, "create_time": created, "birth_ticks": birth_ticks(pid), "pgid": pid}


def birth_ticks(pid: int) -> int | None:
    """Clock ticks from the host's start to the process's; None where /proc does not tell.

    create_time is a wall-clock time and moves with every step of that clock; this does not.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


def alive(proc: dict[str, Any]) -> psutil.Process | None:
    """The process of proc.json if it still runs; a later process with its number is not it."""
    try:
        process = psutil.Process(proc["pid"])
        if _born_as(process, proc) and process.status() != "zombie":
            return process
    except psutil.NoSuchProcess:
        pass
    return None


def group(proc: dict[str, Any]) -> Iterator[psutil.Process]:
    """What is left of the process group of proc.json."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) != proc["pgid"]:
                continue
            if _born_since(process, proc) and process.status() != "zombie":
                yield process


def _born_as(process: psutil.Process, proc: dict[str, Any]) -> bool:
    ticks = proc.get("birth_ticks")
    if ticks is not None:
        return birth_ticks(process.pid) == ticks
    return process.create_time() == proc["create_time"]


def _born_since(process: psutil.Process, proc: dict[str, Any]) -> bool:
    ticks = proc.get("birth_ticks")
    if ticks is not None:
        return (birth_ticks(process.pid) or 0) >= ticks
    return process.create_time() >= proc["create_time"]


def command(process: psutil.Process) -> list[str]:
    """Its command line; empty if it has ended or is not ours to see."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def command_runs(wanted: list[str]) -> bool:
    """True if some process was started with these last arguments."""
    return any(command(p)[-len(wanted) :] == wanted for p in psutil.process_iter())


def kill(processes: Iterator[psutil.Process]) -> None:
    """End them at once; one that has just ended is no error."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
