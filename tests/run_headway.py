"""The `headway` command as its user runs it: a process of its own, in a folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from storage.lock import read_holder

CLI = Path(__file__).resolve().parents[1] / "cli.py"


@dataclass(frozen=True)
class Headway:
    """Commands on one data folder, from a folder that is not the project's."""

    data: Path
    elsewhere: Path

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(CLI), *words],
            cwd=self.elsewhere,
            env={**os.environ, "HEADWAY_DATA": str(self.data), **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*words, **env)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def shown(self, run: str = "last") -> dict:
        """What `show --json` says."""
        said = self("show", run, "--json")
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)


@contextmanager
def headway_in(folder: Path) -> Iterator[Headway]:
    """Commands on a new data folder below `folder`; its store is ended afterwards."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    headway = Headway(folder / "data", elsewhere)
    try:
        yield headway
    finally:
        end_store(headway.data)


def end_store(data: Path) -> None:
    """Ends the store process of a data folder, which would live a minute longer."""
    holder = read_holder(data)
    if holder is None:
        return
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(holder.pid)
        if str(data) in process.cmdline():
            process.terminate()
            process.wait(10)
