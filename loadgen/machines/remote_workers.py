"""What the leader does about load workers on other machines, step by step of its run."""

import time
from collections.abc import Callable
from typing import Any

import gevent

from loadgen.machines.outposts import Outposts
from loadgen.machines.worker_watch import SILENT_NS
from loadgen.plan import Machines
from loadgen.run_ended import RunEnded

ABSENT_NS = 6_000_000_000  # before the load: whoever is silent for so long has gone away
HOME_WITHIN_S = 600.0
STOPPED_WITHIN_S = 8.0  # where somebody waits for the run to stop
LOOK_EVERY_S = 0.1

Say = Callable[[str], None]
Pause = Callable[[float], None]


class RemoteWorkers:
    """The waiting for them: until they have joined, and until all they measured is here.

    address: HOST:PORT where they find the leader.
    """

    def __init__(self, outposts: Outposts, machines: Machines, address: str) -> None:
        self._outposts = outposts
        self._machines = machines
        self._address = address

    def gather(self, say: Say, pause: Pause) -> None:
        """Wait until every place is taken by a host that can play its part, then let them load.

        Raises RunEnded if one cannot, or if it takes too long.
        """
        outposts, n = self._outposts, self._machines.workers
        deadline_s = time.monotonic() + self._machines.wait_s
        while outposts.n_ready < n:
            outposts.forget_silent(time.monotonic_ns() - ABSENT_NS)
            if outposts.problems:
                raise RunEnded("failed", " ".join(outposts.problems))
            if time.monotonic() > deadline_s:
                raise RunEnded("failed", self._too_late())
            say(self._waiting())
            pause(LOOK_EVERY_S)
        outposts.enter("load")

    def bring_home(self, say: Say, within_s: float) -> list[str]:
        """Wait until everything measured elsewhere is here; a sentence for each host that failed.

        A host that is not heard any more is not waited for.
        """
        self._outposts.enter("leave")
        deadline_s = time.monotonic() + within_s
        while waiting := self._not_home():
            if time.monotonic() > deadline_s:
                break
            left_mb = sum(place.unsent_bytes for place in waiting) / 1e6
            names = ", ".join(place.name for place in waiting)
            say(f"Fetching what was measured on {names}: {left_mb:,.1f} MB are left.")
            gevent.sleep(LOOK_EVERY_S)
        missing = [place for place in self._outposts.taken.values() if not place.is_home]
        for place in missing:
            place.home.settled()  # the store need not wait for it either
        self._outposts.enter("over")
        gevent.sleep(LOOK_EVERY_S)  # that they are told
        return [
            f"What {place.name} measured last did not come in: it was not reached any more. It "
            f"lies there in the data folder, under worker/ (docs/several-machines.md)."
            for place in missing
        ]

    def record(self) -> list[dict[str, Any]]:
        """For run.json: each remote worker, its host, and how well its clock is known."""
        now_ns = time.monotonic_ns()
        places = sorted(self._outposts.taken.values(), key=lambda place: place.worker)
        return [place.record(now_ns) for place in places]

    def _not_home(self) -> list[Any]:
        oldest_ns = time.monotonic_ns() - SILENT_NS
        places = self._outposts.taken.values()
        return [p for p in places if not p.is_home and p.heard_ns > oldest_ns]

    def _waiting(self) -> str:
        n = self._machines.workers
        joined = len(self._outposts.taken)
        return (
            f"Waiting for {n - joined} of {n} load workers on other machines: start there "
            f"headway worker --master {self._address}"
            if joined < n
            else "The load workers on other machines are making ready."
        )

    def _too_late(self) -> str:
        joined = len(self._outposts.taken)
        refused = "".join(f" Refused: {why}" for why in self._outposts.refused.values())
        return (
            f"{joined} of {self._machines.workers} load workers on other machines joined within "
            f"{self._machines.wait_s:g} s (machines.wait_s). Start each by "
            f"headway worker --master {self._address}, and see that the port is reachable.{refused}"
        )
