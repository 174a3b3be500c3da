"""Every message at the leader's port: from whom, whether it may be, and where it goes.

Load workers are heard after their first words only, and say only what load workers say.  Instants
of another host's clock are turned into ours here, and ours into theirs, and nowhere else.
"""

import logging
import time
from typing import Any, Protocol

from loadgen.machines.clock_offset import Offset
from loadgen.machines.outposts import Outposts
from loadgen.machines.roster import Roster, Seated
from loadgen.run_folder import RunFolder

log = logging.getLogger(__name__)

TO_LEADER: dict[str, dict[str, type]] = {
    "seats": {"seats": int},
    "warmed": {"stage": int},
    "ended": {"stage": int, "end_ns": int, "issue_end_ns": int},
    "pulse": dict.fromkeys(
        ("t_us", "stage", "in_flight", "sent", "done", "failed", "not_sent"), int
    ),
    "failing": {"why": str},
    "hopeless": {"why": str},
    "fault": {"why": str},
}
"""What a load worker may say, and what each must hold besides its `worker`."""
THEIR_INSTANTS = ("end_ns", "issue_end_ns")
OUR_INSTANTS = ("begin_ns",)
WAYS = 4  # a level's begin must be known before it comes: so many ways there, at the slowest
NO_OFFSET = Offset(0, 0)


class Carrier(Protocol):
    """The port itself (loadgen.locustfile.LocustMachine; a list in tests)."""

    def carry(self, node_id: str, kind: str, content: dict[str, Any]) -> None:
        """Send one message, if the connection stands."""
        ...

    def deliver(self, kind: str, content: dict[str, Any]) -> None:
        """Hand one to the leader."""
        ...

    def seat(self, node_id: str) -> None:
        """It takes part from now on."""
        ...

    def unseat(self, node_id: str) -> None:
        """It takes no part any more."""
        ...


class Switchboard:
    """Of one run; one greenlet at a time calls it."""

    def __init__(self, folder: RunFolder, carrier: Carrier) -> None:
        plan = folder.read_plan()
        self._carrier = carrier
        self.roster = Roster(folder.run_uid, plan.n_workers)
        self.outposts = Outposts(folder, range(plan.workers, plan.n_workers), self._to_outpost)

    def take(self, node_id: str, kind: str, content: Any, address: str) -> bool:
        """One message of ours; False if it is Locust's own."""
        now_ns = time.monotonic_ns()
        seated = self.roster.of(node_id)
        if seated is not None:
            self.roster.heard(seated, now_ns)
        if kind == "outpost":
            if isinstance(content, dict):
                self.outposts.hear(node_id, content, address, now_ns)
        elif kind == "here":
            self._admit(node_id, content, now_ns)
        elif kind == "post":
            self._from_worker(seated, content)
        elif kind == "got":
            if seated is not None and isinstance(below := _field(content, "below"), int):
                seated.post.confirmed(below)
        else:
            return False
        return True

    def is_seated(self, node_id: str) -> bool:
        """Whether a connection is that of a load worker of this run."""
        return self.roster.of(node_id) is not None

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message to every load worker, in its own clock."""
        for seated in self.roster.all():
            theirs = _shifted(content, OUR_INSTANTS, self._offset(seated.worker).offset_ns)
            self._carrier.carry(seated.node_id, "post", seated.post.wrap(kind, theirs))

    def tend(self, is_look: bool) -> None:
        """Confirm what came; at a look, send again what was not confirmed since the last one."""
        for seated in self.roster.all():
            if is_look:
                for envelope in seated.post.overdue():
                    self._carrier.carry(seated.node_id, "post", envelope)
            if (below := seated.post.receipt()) is not None:
                self._carrier.carry(seated.node_id, "got", {"below": below})

    def drop(self, worker: int) -> None:
        """It is lost: it gets no more users, and nothing it says counts."""
        seated = self.roster.give_up(worker)
        if seated is not None:
            self._carrier.unseat(seated.node_id)
        self.outposts.end(worker)

    def head_start_ns(self) -> int:
        """How much earlier than on one machine a level must be announced."""
        errors = [self._offset(seated.worker).error_ns for seated in self.roster.all()]
        return WAYS * max(errors, default=0)

    def _admit(self, node_id: str, here: Any, now_ns: int) -> None:
        if not self.is_seated(node_id):
            refusal = self.roster.admit(node_id, here, now_ns)
            if refusal is not None:
                log.warning("a load worker was refused: %s", refusal)
                self._carrier.carry(node_id, "refused", {"why": refusal})
                return
            self._carrier.seat(node_id)
        self._carrier.carry(node_id, "seated", {})

    def _from_worker(self, seated: Seated | None, envelope: Any) -> None:
        if seated is None or not isinstance(_field(envelope, "no"), int):
            return
        taken = seated.post.take(envelope)
        if taken is None:
            return
        kind, content = taken
        if not _makes_sense(kind, content, seated.worker):
            log.warning("load worker %d said what makes no sense: %.200r", seated.worker, taken)
            return
        ours = _shifted(content, THEIR_INSTANTS, -self._offset(seated.worker).offset_ns)
        self._carrier.deliver(kind, ours)

    def _to_outpost(self, outpost: str, said: dict[str, Any]) -> None:
        self._carrier.carry(outpost, "outpost", said)

    def _offset(self, worker: int) -> Offset:
        place = self.outposts.of_worker(worker)
        known = place and place.clock.at(time.monotonic_ns())
        return known or NO_OFFSET


def _makes_sense(kind: Any, content: Any, worker: int) -> bool:
    fields = TO_LEADER.get(kind) if isinstance(kind, str) else None
    if fields is None or not isinstance(content, dict) or content.get("worker") != worker:
        return False
    return all(isinstance(content.get(name), kind) for name, kind in fields.items())


def _field(content: Any, name: str) -> Any:
    return content.get(name) if isinstance(content, dict) else None


def _shifted(content: dict[str, Any], names: tuple[str, ...], by_ns: int) -> dict[str, Any]:
    if not by_ns:
        return content
    return {name: v + by_ns if name in names else v for name, v in content.items()}
