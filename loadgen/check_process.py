"""A check in a process of its own, for callers that must not load gevent: the dashboard."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
WITHIN_S = 100.0
"""Longer than a check's own limits (check.LIMITS, twice for a refused field): it ends by itself."""


def run_check(target: dict[str, Any], within_s: float = WITHIN_S) -> dict[str, Any]:
    """The explanation's dict; {"ok": False, "sentence": …} where none came.

    target: fields of a plan's target; api may be "auto", the model void.
    """
    checking = subprocess.Popen(
        [sys.executable, "-m", "loadgen.check"],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that its simulator ends with it
    )
    try:
        said, complaint = checking.communicate(json.dumps(target).encode(), timeout=within_s)
    except subprocess.TimeoutExpired:
        return _no(f"No whole answer came within {within_s:g} s, so the check was ended.")
    finally:
        _end(checking)
    try:
        return json.loads(said)
    except ValueError:
        last = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
        return _no(f"The check itself failed: {last or f'exit code {checking.returncode}'}.")


def _no(sentence: str) -> dict[str, Any]:
    return {"ok": False, "sentence": sentence}


def _end(checking: "subprocess.Popen[bytes]") -> None:
    """End the process and whatever it started, if it has not ended by itself."""
    if checking.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(checking.pid, signal.SIGKILL)
        checking.wait()
    for pipe in (checking.stdin, checking.stdout, checking.stderr):
        if pipe is not None:
            pipe.close()
