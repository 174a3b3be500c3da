"""The files of one run: written whole or appended by line, readable by anyone at any time."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storage.records import TERMINAL

if TYPE_CHECKING:
    from loadgen.plan import Plan


def terminal(state: str) -> bool:
    """True if a run in this state will not change any more."""
    return state in TERMINAL


def data_folder() -> Path:
    """`HEADWAY_DATA`, or `data` in the current folder."""
    return Path(os.environ.get("HEADWAY_DATA") or "data").absolute()


def runs_folder(data: Path) -> Path:
    """Where the runs of a data folder lie, one folder each."""
    return data / "runs"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """`DATA/runs/<run_uid>/`: the files that outlive every process of the run."""

    path: Path

    @property
    def run_uid(self) -> str:
        """The run's identity, also across machines."""
        return self.path.name

    @property
    def spool(self) -> Path:
        """Raw reads and decoded columns on their way to the store."""
        return self.path / "spool"

    def read(self, name: str) -> dict[str, Any] | None:
        """One of plan.json, run.json, proc.json, status.json; None while it does not exist."""
        try:
            return json.loads((self.path / name).read_bytes())
        except FileNotFoundError:
            return None

    def read_plan(self) -> "Plan":
        """The plan as it was when the run was asked for."""
        from loadgen.plan import parse  # 0.3 s of CPU, which most who look at a run do not need

        return parse(json.loads((self.path / "plan.json").read_bytes()))

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace the file at once: a reader sees the old or the new one, never half of one."""
        target = self.path / name
        temporary = target.with_name(f".{name}.{os.getpid()}")
        temporary.write_bytes(json.dumps(content, indent=1).encode())
        os.replace(temporary, target)

    def append(self, name: str, row: dict[str, Any]) -> None:
        """One JSON line in one write."""
        with (self.path / name).open("ab", buffering=0) as file:
            file.write(json.dumps(row).encode() + b"\n")

    def read_rows(self, name: str) -> list[dict[str, Any]]:
        """The whole lines of an appended file; none while it does not exist."""
        try:
            whole = (self.path / name).read_bytes().rpartition(b"\n")[0]
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in whole.split(b"\n") if line]

    def undecoded(self) -> list[int]:
        """Workers whose raw reads are not all decoded yet."""
        workers: set[int] = set()
        for path in self.spool.glob("raw-w*"):
            if path.suffix in (".open", ".seg"):
                workers.add(int(path.name.split("-")[1][1:]))
        return sorted(k for k in workers if not self._decoded_mark(k).exists())

    def mark_decoded(self, worker: int) -> None:
        """Nothing of this worker will be decoded any more."""
        self._decoded_mark(worker).touch()

    def count_decoding(self, worker: int) -> int:
        """One more attempt to decode this worker's raw reads after its run; how many it makes."""
        with (self.spool / f"decodings-w{worker}").open("ab", buffering=0) as tries:
            tries.write(b".")
            return tries.tell()

    def _decoded_mark(self, worker: int) -> Path:
        return self.spool / f"decoded-w{worker}"
