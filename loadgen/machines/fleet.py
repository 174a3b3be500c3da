"""All load workers of a run, here and on other machines: mustered, watched, brought home."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from loadgen.crew import Crew
from loadgen.machines import addresses
from loadgen.machines.missing import Missing, duty, n_arrivals, n_ended, sentence
from loadgen.machines.remote_workers import HOME_WITHIN_S, STOPPED_WITHIN_S, RemoteWorkers
from loadgen.machines.switchboard import Switchboard
from loadgen.machines.worker_watch import Loss, WorkerWatch
from loadgen.plan import Load
from loadgen.run_ended import RunEnded
from loadgen.run_folder import RunFolder
from loadgen.seats import Role
from storage.live import LiveTail

WORKERS_START_S = 30
NS_PER_S = 1e9

Say = Callable[[str], None]
Pause = Callable[[float], None]


class Leading(Protocol):
    """What of Locust's master the fleet uses."""

    port: int
    switchboard: Switchboard

    def ready(self) -> int:
        """Workers that have reported."""
        ...

    def strangers(self) -> list[str]:
        """Sentences on whoever was turned away at the port."""
        ...


@dataclass(slots=True)
class LevelNow:
    """The level that is being measured, and what each worker does in it."""

    stage: int
    load: Load
    roles: Sequence[Sequence[Role]]
    begin_ns: int
    before: dict[int, int]  # worker -> requests that had ended before


class Fleet:
    """Of one run; the leader's greenlet calls it."""

    def __init__(self, folder: RunFolder, crew: Crew) -> None:
        self._folder = folder
        self._plan = folder.read_plan()
        self._crew = crew
        self._machine: Leading | None = None
        self._watch: WorkerWatch | None = None
        self._remote: RemoteWorkers | None = None
        self._now: LevelNow | None = None
        self._ended: dict[int, int] = {}  # worker -> requests it has ended, by its last pulse
        self._lost: list[tuple[Loss, LevelNow | None]] = []

    @property
    def alive(self) -> list[int]:
        """Workers that take part."""
        lost = self._watch.lost if self._watch else {}
        return [k for k in range(self._plan.n_workers) if k not in lost]

    def muster(self, machine: Leading, say: Say, pause: Pause) -> None:
        """Start the workers of this machine, wait for the others; RunEnded if one is missing."""
        self._machine = machine
        board, machines = machine.switchboard, self._plan.machines
        self._watch = WorkerWatch(board.roster, board.outposts, self._crew.dead_workers)
        bind = machines.bind if machines else addresses.LOOPBACK
        self._crew.start_workers(
            self._plan.workers,
            addresses.own(addresses.to_bind(bind), machine.port),
            machines.secret_env if machines else None,
        )
        try:
            if machines and machines.workers:
                shown = addresses.told(bind, machine.port)
                self._remote = RemoteWorkers(board.outposts, machines, shown)
                self._remote.gather(say, pause)
            self._wait_for(machine, pause)
        finally:  # whether all came or not: what these workers wrote is to be decoded
            self._crew.start_decoders()
        self._write_machines()

    def _wait_for(self, machine: Leading, pause: Pause) -> None:
        """Until every worker has reported; raises RunEnded if one does not."""
        deadline_s, n = time.monotonic() + WORKERS_START_S, self._plan.n_workers
        while machine.ready() < n:
            if time.monotonic() > deadline_s:
                raise RunEnded("failed", f"The {n} load workers did not report; see the run's log.")
            pause(0.05)

    def pulse(self, pulse: dict[str, Any]) -> None:
        """A worker's last second."""
        self._ended[pulse["worker"]] = pulse["done"] + pulse["failed"]

    def level_begins(
        self, stage: int, load: Load, roles: Sequence[Sequence[Role]], begin_ns: int
    ) -> None:
        """From now on a worker that is lost leaves a hole in this level."""
        self._now = LevelNow(stage, load, roles, begin_ns, dict(self._ended))
        self._write_machines()

    def level_ends(self) -> None:
        """Nothing of it is missing any more."""
        self._now = None

    def look(self, say: Say) -> None:
        """Raises RunEnded("interrupted") if a worker was lost and the plan says stop, or all were.

        say: takes a sentence for the run's notes.
        """
        if self._watch is None or self._machine is None:
            return
        for loss in self._watch.look(time.monotonic_ns(), self._now is not None):
            self._lost.append((loss, self._now))
            self._machine.switchboard.drop(loss.worker)
            self._crew.kill(loss.worker)
            if not self._goes_on or not self.alive:
                raise RunEnded(
                    "interrupted",
                    f"{loss.name} {loss.how}, so the load was no longer what the plan says; the "
                    "run was ended. What was measured until then is kept; see the run's log.",
                )
            say(f"{loss.name} {loss.how}; the run goes on without it (machines.when_lost).")

    def for_all(self, given: list[list[Role]]) -> list[list[Role]]:
        """The roles of those that are left, as every worker finds its own: by its number."""
        mine = dict(zip(self.alive, given, strict=True))
        return [mine.get(k, []) for k in range(self._plan.n_workers)]

    def bring_home(self, say: Say, is_stopped: bool) -> list[str]:
        """Wait for what was measured on other machines; sentences on what is missing of it."""
        within_s = STOPPED_WITHIN_S if is_stopped else HOME_WITHIN_S
        return self._remote.bring_home(say, within_s) if self._remote else []

    def account(self) -> list[str]:
        """Sentences on lost workers, cut connections and strangers, once all is decoded.

        Writes run.json["machines"] for the last time.
        """
        if self._machine is None:
            return []
        found = [self._missing(loss, now) for loss, now in self._lost if now is not None]
        self._write_machines([missing for _, missing in found])
        return [
            *(sentence(name, missing, self._goes_on) for name, missing in found),
            *self._outages(),
            *self._machine.strangers(),
        ]

    @property
    def _goes_on(self) -> bool:
        machines = self._plan.machines
        return machines is not None and machines.when_lost == "go_on"

    def _missing(self, loss: Loss, now: LevelNow) -> tuple[str, Missing]:
        worker = loss.worker
        lines = LiveTail(self._folder.path).read_by_worker().get(worker, [])
        counted = partial(n_arrivals, self._plan, now.stage, now.load)
        had = duty(now.stage, now.load, now.roles, worker, counted)
        return loss.name, Missing(
            worker=worker,
            how=loss.how,
            stage=now.stage,
            level=now.load.name,
            into_s=max(0.0, (loss.at_ns - now.begin_ns) / NS_PER_S),
            share=had.share,
            n_requests=had.n_requests,
            n_measured=n_ended(lines) - now.before.get(worker, 0),
        )

    def _outages(self) -> list[str]:
        assert self._machine is not None
        assert self._watch is not None
        t0_ns = (self._folder.read("run.json") or {}).get("t0_mono_ns", 0)
        return [
            f"{self._watch.name(o.worker)} was not heard for {o.for_ns / NS_PER_S:.1f} s, from "
            f"{(o.from_ns - t0_ns) / NS_PER_S:.1f} s on, and came back; what it measured "
            "meanwhile is here."
            for o in self._machine.switchboard.roster.outages
        ]

    def _write_machines(self, missing: Sequence[Missing] = ()) -> None:
        """run.json["machines"]: each remote worker with its clock, each loss with its share."""
        rows = self._remote.record() if self._remote else []
        lost = [each.to_dict() for each in missing]
        run = self._folder.read("run.json")
        if run is not None and (rows or lost):
            run["machines"] = {"workers": rows, "lost": lost}
            self._folder.write("run.json", run)
