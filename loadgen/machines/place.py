"""One place for a remote load worker in a run, and the outpost that took it."""

from dataclasses import dataclass, field
from operator import index
from typing import Any

from loadgen.machines.clock_offset import ClockOffset, Offset, RoundTrip
from loadgen.machines.homecoming import Homecoming

Said = dict[str, Any]
"""A message of an outpost, or to it; `say` is its kind."""


@dataclass(slots=True)
class Place:
    """What the leader knows of one remote load worker and its host."""

    worker: int
    host: str  # as the machine calls itself
    address: str  # where its messages come from
    facts: dict[str, Any]  # cpus, versions: for the run's record
    home: Homecoming
    heard_ns: int
    clock: ClockOffset = field(default_factory=ClockOffset)
    is_ready: bool = False  # the plan and its files are there, and the host can play its part
    worker_code: int | None = None  # exit code of its load worker, once that has ended
    is_leaving: bool = False  # somebody there ended it
    is_ended: bool = False  # we gave it up
    is_home: bool = False  # everything measured there has come in
    unsent_bytes: int = 0
    damaged: int = 0  # pieces that were not what they should be
    at_t0: Offset | None = None  # as its decoder counts
    _asked_ns: set[int] = field(default_factory=set[int])

    @property
    def name(self) -> str:
        """As sentences say it."""
        return self.host if self.address in ("", self.host) else f"{self.host} ({self.address})"

    def ask(self, now_ns: int) -> Said:
        """A ping; its answer tells the clocks' offset."""
        self._asked_ns.add(now_ns)
        return {"say": "ping", "asked_ns": now_ns}

    def answered(self, said: Said, now_ns: int) -> None:
        """The answer to a ping of ours; any other is ignored.  TypeError: no instants."""
        asked_ns, got_ns, sent_ns = (index(said[n]) for n in ("asked_ns", "got_ns", "sent_ns"))
        if asked_ns not in self._asked_ns or not asked_ns <= now_ns:
            return
        self._asked_ns.clear()  # an older one that comes late tells less
        self.clock.add(RoundTrip(asked_ns, got_ns, sent_ns, now_ns))

    def record(self, now_ns: int) -> dict[str, Any]:
        """For run.json: who, and how well its clock is known.

        drift_ns: how much the offset has changed since the worker's time zero was told; its times
        are off by that much from the other machines' at the end.
        """
        offset = self.clock.at(now_ns)
        drift_ns = offset.offset_ns - self.at_t0.offset_ns if offset and self.at_t0 else None
        return {
            "worker": self.worker,
            "host": self.host,
            "address": self.address,
            **self.facts,
            "offset_ns": self.at_t0 and self.at_t0.offset_ns,
            "error_ns": self.at_t0 and self.at_t0.error_ns,
            "drift_ns": drift_ns,
        }
