"""A tool's command from its start to its end, its CPU time sampled all the while."""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.peers.tree_cpu import TreeCpu
from bench.peers.truth import Truth

LONGEST_S = 240
LAST_WORDS = 600  # characters of a failed tool's output


@dataclass(frozen=True, slots=True)
class Cores:
    """Who runs where; None: wherever the kernel puts it."""

    client: int | None
    server: int | None

    def __str__(self) -> str:
        if self.client is None:
            return "client and server share all cores (nothing is pinned)"
        return f"every client pinned to core {self.client}, the truth server to core {self.server}"


def two_cores() -> Cores:
    """The first two cores this process may use; nothing is pinned where there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2 or shutil.which("taskset") is None:
        return Cores(None, None)
    return Cores(allowed[0], allowed[1])


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU seconds (user and system) of the tool's whole process tree."""

    start_s: float  # until its first request arrived
    load_s: float  # from there to the last token sent
    after_s: float  # from there to its end: report, store


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended.  code: None if it had to be ended."""

    command: list[str]
    code: int | None
    output: str
    tree: TreeCpu

    @property
    def words(self) -> str:
        """How it ended, with the last of what it said."""
        how = f"exit code {self.code}" if self.code is not None else f"not within {LONGEST_S} s"
        return f"`{shlex.join(self.command[:6])} …` ended: {how}. {self.output[-LAST_WORDS:]}"

    def cpu(self, load: Truth) -> Cpu:
        """Its CPU time before, during and after its load."""
        return Cpu(
            start_s=self.tree.used_s(None, load.begin_ns),
            load_s=self.tree.used_s(load.begin_ns, load.end_ns),
            after_s=self.tree.used_s(load.end_ns, None),
        )


def run(command: list[str], folder: Path, env: dict[str, str], core: int | None) -> Ended:
    """Run the command in `folder`, it and its children on `core` only; none of them survives."""
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    output = folder / "output.txt"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [*pinned, *command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        tree = TreeCpu(process.pid)
        tree.start()
        code: int | None = None
        try:
            code = process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            tree.stop()
            process.wait()
    return Ended(command, code, output.read_text(errors="replace").strip(), tree)
