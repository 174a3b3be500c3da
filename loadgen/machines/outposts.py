"""The leader's side of every outpost: places given, plans and files handed out, data taken home.

Nothing here waits, and nothing said once is relied on: an outpost tells each second how it is and
is answered what the run is at, so that a line which was cut heals by the next word.
"""

import logging
from collections.abc import Callable
from typing import Any, Literal

from loadgen.machines.homecoming import Homecoming
from loadgen.machines.pieces import PieceError, cut
from loadgen.machines.place import Place, Said
from loadgen.machines.plan_files import files_of, read_from
from loadgen.prompts.material import made_files
from loadgen.run_folder import RunFolder
from loadgen.version import VERSION

log = logging.getLogger(__name__)

Phase = Literal["prepare", "load", "leave", "over"]
PINGS_FIRST = 8  # in a row, before the first level
MOST_NAME = 100


class Outposts:
    """All of a run's; one greenlet calls it.

    places: workers of the run that are to be on other machines.
    send: (outpost, message), to be carried there if its connection stands.
    """

    def __init__(self, folder: RunFolder, places: range, send: Callable[[str, Said], None]) -> None:
        self._folder = folder
        self._free = list(places)
        self._send = send
        self._plan: dict[str, Any] = folder.read("plan.json") or {}
        self._run: dict[str, Any] = folder.read("run.json") or {}
        self._files = [*files_of(self._plan), *made_files(folder.path)]
        self._pings_left: dict[str, int] = {}
        self.phase: Phase = "prepare"
        self.taken: dict[str, Place] = {}
        self.problems: list[str] = []  # why the run cannot begin with the hosts that joined
        self.refused: dict[str, str] = {}  # outpost -> why it got no place

    def of_worker(self, worker: int) -> Place | None:
        """The place of a worker; None for one of this machine, or while nobody took it."""
        return next((p for p in self.taken.values() if p.worker == worker), None)

    def hear(self, outpost: str, said: Said, address: str, now_ns: int) -> None:
        """One message.  What makes no sense is logged and dropped."""
        try:
            place = self.taken.get(outpost)
            if place is not None:
                place.heard_ns = now_ns
                self._hear_known(outpost, place, said, now_ns)
            elif said["say"] == "join":
                self._join(outpost, said, address, now_ns)
            elif said["say"] == "beat":  # of a run before this one
                self._send(outpost, {"say": "do", "run_uid": said["run_uid"], "phase": "unknown"})
        except (LookupError, TypeError, ValueError, OverflowError, OSError) as error:
            log.warning("dropped a message of the outpost %s: %r", outpost[:MOST_NAME], error)

    def enter(self, phase: Phase) -> None:
        """The run is at another phase; every outpost is told."""
        self.phase = phase
        for outpost, place in self.taken.items():
            self._tell_phase(outpost, place)

    def end(self, worker: int) -> None:
        """Its load ends at once; what it measured still comes home."""
        for outpost, place in self.taken.items():
            if place.worker == worker:
                place.is_ended = True
                self._tell_phase(outpost, place)

    def forget_silent(self, since_ns: int) -> None:
        """Before the load: a place whose outpost went away is free again."""
        for outpost, place in list(self.taken.items()):
            if place.heard_ns < since_ns or place.is_leaving:
                del self.taken[outpost]
                self._free.append(place.worker)

    @property
    def n_ready(self) -> int:
        """Places whose hosts have what they need."""
        return sum(place.is_ready for place in self.taken.values())

    def _join(self, outpost: str, said: Said, address: str, now_ns: int) -> None:
        why = self._why_not(said)
        if why is not None:
            host = str(said.get("host"))[:MOST_NAME]
            self.refused[outpost] = f"{host} ({address}): {why}"
            self._send(outpost, {"say": "wait", "why": why})
            return
        self.refused.pop(outpost, None)
        worker = self._free.pop(0)
        self.taken[outpost] = Place(
            worker=worker,
            host=str(said["host"])[:MOST_NAME],
            address=address,
            facts={"cpus": said["cpus"], "version": said["version"]},
            home=Homecoming(self._folder, worker),
            heard_ns=now_ns,
        )
        self._pings_left[outpost] = PINGS_FIRST
        self._welcome(outpost, worker)
        self._send(outpost, self.taken[outpost].ask(now_ns))

    def _join_again(self, outpost: str, place: Place) -> None:
        """Our welcome was lost; or the outpost is done with this run, before we have ended."""
        if self.phase == "prepare":
            self._welcome(outpost, place.worker)
        else:
            self._send(outpost, {"say": "wait", "why": self._no_place()})

    def _no_place(self) -> str:
        return f"run {self._folder.run_uid} has all its load workers; it may join the next run."

    def _why_not(self, said: Said) -> str | None:
        if said["version"] != VERSION:
            return f"it has Headway {said['version']}, the leader has {VERSION}; use the same."
        if self.phase != "prepare" or not self._free:
            return self._no_place()
        if not isinstance(said["cpus"], int):
            raise ValueError("cpus")
        return None

    def _welcome(self, outpost: str, worker: int) -> None:
        names = ("target_url", "http", "dropped_fields")
        run = {name: self._run.get(name) for name in (*names, "run_uid", "n_workers")}
        run["targets"] = {
            target: {name: facts.get(name) for name in names}
            for target, facts in (self._run.get("targets") or {}).items()
        }
        self._send(
            outpost,
            {"say": "welcome", "worker": worker, "run": run, "plan": self._plan}
            | {"run_uid": self._folder.run_uid, "files": self._files},
        )

    def _hear_known(self, outpost: str, place: Place, said: Said, now_ns: int) -> None:
        kind = said["say"]
        if kind == "pong":
            self._pong(outpost, place, said, now_ns)
        elif kind == "join":
            self._join_again(outpost, place)
        elif said["run_uid"] != self._folder.run_uid:
            raise ValueError("of another run")
        elif kind == "fetch":
            part = cut(read_from(self._files[said["file"]]), said["offset"])
            self._send(outpost, {"say": "part", "file": said["file"], **part})
        elif kind == "piece":
            self._piece(outpost, place, said)
        elif kind == "beat":
            self._beat(place, said)
            self._tell_phase(outpost, place)
            self._send(outpost, place.ask(now_ns))

    def _pong(self, outpost: str, place: Place, said: Said, now_ns: int) -> None:
        place.answered(said, now_ns)
        left = self._pings_left.get(outpost, 0)
        if left > 0:
            self._pings_left[outpost] = left - 1
            self._send(outpost, place.ask(now_ns))

    def _piece(self, outpost: str, place: Place, said: Said) -> None:
        try:
            self._send(outpost, {"say": "took", **place.home.take(said)})
        except PieceError as error:
            place.damaged += 1
            log.warning("%s: %s", place.name, error)
        except OSError as error:  # the outpost sends it again
            log.warning("cannot write what %s measured (%s)", place.name, error.strerror)

    def _beat(self, place: Place, said: Said) -> None:
        place.is_ready = said["is_ready"] is True
        place.is_leaving = said["is_leaving"] is True
        place.unsent_bytes = int(said["unsent_bytes"])
        code = said["worker_code"]
        place.worker_code = code if isinstance(code, int) else None
        if said["is_home"] is True and not place.is_home:
            place.is_home = True
            place.home.settled()
        if isinstance(said["problem"], str) and self.phase == "prepare":
            problem = f"The machine {place.name} cannot load: {said['problem']}"
            if problem not in self.problems:
                self.problems.append(problem)

    def _tell_phase(self, outpost: str, place: Place) -> None:
        phase = "leave" if place.is_ended and self.phase == "load" else self.phase
        content: Said = {"say": "do", "run_uid": self._folder.run_uid, "phase": phase}
        content["now"] = place.is_ended
        if phase == "load":
            if place.at_t0 is None:
                place.at_t0 = place.clock.at(place.heard_ns)
            if place.at_t0 is None:
                return  # no round trip yet: it is told with its next beat
            t0_ns: int = self._run["t0_mono_ns"]
            content["t0_mono_ns"] = t0_ns + place.at_t0.offset_ns
        self._send(outpost, content)
