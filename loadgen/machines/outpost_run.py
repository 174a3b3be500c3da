"""One run on a remote host: an ordinary run folder with an ordinary load worker and decoder in it.

What the leader's machine has is made here from its messages; what the decoder seals is sent there.
"""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loadgen.machines.here_check import key_problems, reach_problem
from loadgen.machines.pieces import Whole
from loadgen.machines.plan_files import with_files_at
from loadgen.machines.shipping import Shipping
from loadgen.prompts.material import FOLDER
from loadgen.run_folder import RunFolder

PROJECT = Path(__file__).resolve().parents[2]
ASK_AGAIN_NS = 2_000_000_000
PATIENCE_NS = 10_000_000_000  # for a load worker that was told to leave
KILL_AFTER_NS = 3_000_000_000
MOST_RESTARTS = 5
RUN_UID = re.compile(r"[A-Za-z0-9-]{1,63}")

Said = dict[str, Any]


class OutpostRun:
    """From the leader's welcome to the last piece it has confirmed.

    leader: (HOST:PORT, name of the secret's variable or "") as the load worker needs them.
    """

    def __init__(self, welcome: Said, data: Path, leader: tuple[str, str]) -> None:
        self.run_uid: str = welcome["run_uid"]
        self.worker = int(welcome["worker"])
        if not RUN_UID.fullmatch(self.run_uid):  # it becomes a folder's name
            raise ValueError(f"The leader calls its run {self.run_uid!r}, which is no name.")
        self.folder = RunFolder(data / "worker" / f"{self.run_uid}-w{self.worker}" / self.run_uid)
        self.folder.spool.mkdir(parents=True, exist_ok=True)
        self._plan: Said = welcome["plan"]
        self._run: Said = welcome["run"]
        self._leader = leader
        self._files = [(path, self._whole(i, path)) for i, path in enumerate(welcome["files"])]
        self._fetched_ns = 0
        self._shipping = Shipping(self.folder.path, self.worker)
        self._load: subprocess.Popen[bytes] | None = None
        self._decoder: subprocess.Popen[bytes] | None = None
        self._restarts = 0
        self._end_by_ns: int | None = None
        self._is_asked_to_end = False
        self.phase = "prepare"
        self.is_ready = False
        self.is_leaving = False
        self.problem: str | None = None

    def hear(self, said: Said, now_ns: int) -> None:
        """One of the leader's messages about this run."""
        if said["say"] == "part":
            self._files[said["file"]][1].add(said)
            self._fetched_ns = 0
        elif said["say"] == "took":
            self._shipping.confirmed(said)
        elif said["say"] == "do":
            self.phase = said["phase"]
            if self.phase == "load" and self._load is None:
                self._begin(said["t0_mono_ns"])
            elif self.phase in ("leave", "over", "unknown"):
                patient = self.phase == "leave" and not said.get("now")
                self.end_load(now_ns + (PATIENCE_NS if patient else 0))

    def step(self, now_ns: int, send: Callable[[Said], bool]) -> None:
        """Whatever there is to do now; called some ten times a second or oftener."""
        if not self.is_ready and self.problem is None:
            self._prepare(now_ns, send)
        self._mend_decoder()
        self._end_when_due(now_ns)
        if piece := self._shipping.next_piece(now_ns):
            send({"say": "piece", "run_uid": self.run_uid, **piece})

    def beat(self) -> Said:
        """How this host is, for the leader."""
        return {
            "say": "beat",
            "run_uid": self.run_uid,
            "is_ready": self.is_ready,
            "problem": self.problem,
            "worker_code": self._load and self._load.poll(),
            "unsent_bytes": self._shipping.unsent_bytes(),
            "is_leaving": self.is_leaving,
            "is_home": self.is_home,
        }

    @property
    def is_decoded(self) -> bool:
        """Load worker and decoder have ended, or never began: nothing more will be written."""
        processes = [p for p in (self._load, self._decoder) if p is not None]
        return all(p.poll() is not None for p in processes)

    @property
    def is_home(self) -> bool:
        """The leader has confirmed all that this host measured."""
        is_begun = self._load is not None or self.phase != "prepare"
        return is_begun and self.is_decoded and not self._shipping.unsent_bytes()

    def end_load(self, by_ns: int) -> None:
        """Have the load worker end by itself until then, and by a signal after it."""
        if self._end_by_ns is None or by_ns < self._end_by_ns:
            self._end_by_ns = by_ns

    def kill(self) -> None:
        """End both processes at once; what they wrote stays."""
        for process in (self._load, self._decoder):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def remove(self) -> None:
        """The leader has everything: the folder goes."""
        shutil.rmtree(self.folder.path.parent, ignore_errors=True)

    def _prepare(self, now_ns: int, send: Callable[[Said], bool]) -> None:
        for i, (_, whole) in enumerate(self._files):
            if not whole.is_done:
                if now_ns - self._fetched_ns > ASK_AGAIN_NS:
                    self._fetched_ns = now_ns
                    ask = {"say": "fetch", "run_uid": self.run_uid}
                    send({**ask, "file": i, "offset": whole.size})
                return
        places = {path: str(whole.path) for path, whole in self._files}
        self.folder.write("plan.json", with_files_at(self._plan, places))
        targets = self._run.get("targets") or {"main": self._run}
        urls = [facts["target_url"] for facts in targets.values()]
        reached = [reach_problem(url) for url in urls if not url.startswith("sim://")]
        problems = [*key_problems(self._plan), *filter(None, reached)]
        self.problem = " ".join(problems) or None
        self.is_ready = not problems

    def _begin(self, t0_mono_ns: int) -> None:
        self.folder.write("run.json", {**self._run, "t0_mono_ns": t0_mono_ns})
        address, secret_env = self._leader
        arguments = [str(self.folder.path), str(self.worker)]
        self._load = self._spawn("loadgen.locustfile", *arguments, address, secret_env)
        self._decoder = self._spawn("loadgen.decoder", *arguments)

    def _mend_decoder(self) -> None:
        """One that died goes on where it was, as beside a local load worker."""
        if self._decoder is not None and self._decoder.poll() and self._restarts < MOST_RESTARTS:
            self._restarts += 1
            arguments = [str(self.folder.path), str(self.worker)]
            self._decoder = self._spawn("loadgen.decoder", *arguments)

    def _end_when_due(self, now_ns: int) -> None:
        if self._end_by_ns is None or self._load is None or self._load.poll() is not None:
            return
        if now_ns > self._end_by_ns + KILL_AFTER_NS:
            self._load.kill()
        elif now_ns > self._end_by_ns and not self._is_asked_to_end:
            self._is_asked_to_end = True
            self._load.send_signal(signal.SIGTERM)

    def _spawn(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        """In a session of its own: Ctrl-C is for us, who end it in order."""
        with (self.folder.path / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _whole(self, index: int, path: str) -> Whole:
        given = Path(path)
        is_made = given.parent.name == FOLDER  # by the leader, for every worker of the run
        files = self.folder.path / (FOLDER if is_made else "files")
        files.mkdir(exist_ok=True)
        return Whole(files / (given.name if is_made else f"{index}-{given.name}"))
