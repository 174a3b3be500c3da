"""The process behind `headway worker`: joins a run, plays its part, sends home, waits for the next.

It carries no load itself and so may read files and wait for the disk; the load worker beside it is
the same process as on the leader's own machine.
"""

import os
import platform
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loadgen.machines.addresses import parsed
from loadgen.machines.channel import Refused, Wire, speaks_zeromq
from loadgen.machines.outpost_run import OutpostRun
from loadgen.machines.secret import leader_keys
from loadgen.version import VERSION

JOIN_EVERY_S = 2.0
BEAT_EVERY_S = 1.0
TURN_S = 0.02
SILENT_S = 20.0  # of the leader: it is gone, and nobody would end the load
HOME_WITHIN_S = 15.0  # after Ctrl-C
REFUSALS = 3  # in a row: a leader that is just ending may refuse once

Said = dict[str, Any]


class Outpost:
    """One place for a load worker on this host, run after run.

    address: HOST:PORT of the leader.  secret: (name of its variable, its value) or None.
    say: takes sentences for the terminal.
    """

    def __init__(
        self,
        address: str,
        secret: tuple[str, str] | None,
        data: Path,
        say: Callable[[str], None],
    ) -> None:
        self._address = address
        self._secret_env = secret[0] if secret else ""
        self._data = data
        self._say = say
        keys = leader_keys(secret[1]) if secret else None
        self._wire = Wire(address, f"{platform.node()}_{uuid.uuid4().hex}", keys)
        self._refusals = 0
        self._is_leader_there = False  # as seen when it had refused us before
        self._said = ""
        self._heard_s = 0.0

    def serve(self, runs: int | None = None) -> None:
        """Take part in so many runs, or in every one until interrupted.  Raises Refused."""
        while runs is None or runs > 0:
            self._take_part(self._join())
            runs = None if runs is None else runs - 1

    def close(self) -> None:
        """Leave the leader's port."""
        self._wire.close()

    def _join(self) -> Said:
        """The leader's welcome, whenever one comes."""
        self._tell(f"Waiting for a run at {self._address}.")
        next_s = 0.0
        while True:
            if time.monotonic() >= next_s:
                next_s = time.monotonic() + JOIN_EVERY_S
                facts = {"host": platform.node(), "cpus": os.cpu_count(), "version": VERSION}
                self._wire.send({"say": "join", **facts})
            said = self._receive(0.2)
            if said is None:
                continue
            if said["say"] == "welcome":
                return said
            if said["say"] == "wait":
                self._tell(f"Not in this run: {said['why']}")

    def _take_part(self, welcome: Said) -> None:
        run = OutpostRun(welcome, self._data, (self._address, self._secret_env))
        self._tell(f"Joined run {run.run_uid} as load worker {run.worker}.")
        try:
            self._follow(run, None)
        except KeyboardInterrupt:
            self._tell("Leaving the run; Ctrl-C again leaves at once.")
            run.is_leaving = True
            run.end_load(time.monotonic_ns())
            self._follow(run, time.monotonic() + HOME_WITHIN_S)
            raise
        finally:
            run.kill()

    def _follow(self, run: OutpostRun, deadline_s: float | None) -> None:
        """Until the run is over here, or the deadline."""
        self._heard_s = time.monotonic()
        beat_s = 0.0
        while deadline_s is None or time.monotonic() < deadline_s:
            now_ns = time.monotonic_ns()
            if now_ns / 1e9 >= beat_s:
                beat_s = now_ns / 1e9 + BEAT_EVERY_S
                self._wire.send(run.beat())
            said = self._receive(TURN_S)
            if said is not None and said["say"] != "wait":
                self._hear(run, said)
            run.step(time.monotonic_ns(), self._wire.send)
            if self._is_over(run):
                return

    def _hear(self, run: OutpostRun, said: Said) -> None:
        if said["say"] == "ping":
            clocks = {"asked_ns": said["asked_ns"], "got_ns": said["received_ns"]}
            self._wire.send({"say": "pong", **clocks, "sent_ns": time.monotonic_ns()})
        elif said["say"] != "welcome":
            before = run.phase
            run.hear(said, time.monotonic_ns())
            if run.phase == "load" != before:
                self._tell("The load begins.")

    def _is_over(self, run: OutpostRun) -> bool:
        """Whether this run needs nothing more of this host; says how it ended."""
        if run.phase == "over":
            run.remove()
            self._tell("The run is over; all that was measured here is with the leader.")
            return True
        is_silent = time.monotonic() - self._heard_s > SILENT_S
        if not is_silent and run.phase != "unknown":
            return False
        run.end_load(time.monotonic_ns())
        if not run.is_decoded:
            return False
        why = f"was not heard for {SILENT_S:g} s" if is_silent else "has ended this run"
        if run.beat()["unsent_bytes"]:
            kept = f"what it does not have yet is kept in {run.folder.path}."
        else:
            kept = "it has all that was measured here."
            run.remove()
        self._tell(f"The leader {why}; {kept}")
        return True

    def _receive(self, within_s: float) -> Said | None:
        """The next message; raises Refused if a leader is there that keeps refusing."""
        try:
            said = self._wire.receive(within_s)
        except Refused:
            self._refusals += 1
            if self._refusals < REFUSALS:
                return None
            if self._is_leader_there:
                raise
            # A tunnel's refusals do not count, nor those from before a leader was at its end.
            self._refusals, self._is_leader_there = 0, speaks_zeromq(*parsed(self._address))
            return None
        if said is not None:
            self._refusals, self._is_leader_there = 0, False
            self._heard_s = time.monotonic()
        return said

    def _tell(self, sentence: str) -> None:
        if sentence != self._said:
            self._say(sentence)
        self._said = sentence
