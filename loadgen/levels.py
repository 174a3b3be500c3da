"""One load level on one worker: who plays which role in it, how long it lasts, when it is over.

What the roles do is in closed_seat.py and conductor.py.  Users are greenlets that Locust spawned;
how many there are is Locust's doing, which role each plays the leader says (seats.roles).
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from gevent.event import Event

from loadgen.plan import Idle, Limits, Load
from loadgen.planned import Phase, PlannedRequest
from loadgen.schedule import Share
from loadgen.seats import CONDUCTOR, LoadPart, Role

SEAT_APART_NS = 1_000_000
ALL_SEATS_WITHIN_NS = 1_000_000_000

OnEnd = Callable[[int | None], None]
"""Told when a request's stream ended (monotonic ns); None: its conversation cannot go on."""


class Sending(Protocol):
    """What a level asks of its worker."""

    def perform(self, planned: PlannedRequest) -> int | None:
        """Send a request of closed loop and wait for its end; returns what `OnEnd` is told."""
        ...

    def dispatch(self, planned: PlannedRequest, due_ns: int, on_end: OnEnd) -> None:
        """Send a request that is due now, without waiting; on_end is called once, later."""
        ...

    def not_sent(self, planned: PlannedRequest, due_ns: int, why: str) -> None:
        """Record an arrival that was due and is not begun."""
        ...


@dataclass(slots=True)
class Level:
    """A begin, an end of issuing, an end of the last stream.

    roles: those of this worker's users, who take them in order; quota: requests that its seats of
    the stage's own load may begin, None without such a limit.
    """

    stage: int
    load: Load
    share: Share
    roles: list[Role]
    begin_ns: int
    quota: int | None = None
    stopped: Event = field(default_factory=Event)  # set: issue no more
    finished: Event = field(default_factory=Event)  # every stream of the level has ended
    # Set: the stage's own load has issued its requests, and classes' own loads end with it.  On a
    # worker that has no seat of it only the leader's `enough` tells.
    main_over: Event = field(default_factory=Event)
    issue_end_ns: int | None = None
    end_ns: int | None = None
    _busy: int = 0
    _main_busy: int = 0
    _taken: int = 0
    _begun: Counter[int] = field(default_factory=Counter[int])

    def __post_init__(self) -> None:
        self._busy = len(self.roles)
        self._main_busy = sum(self._is_main(role) for role in self.roles)
        if not self.roles:  # more workers than streams, or a pause: nothing to do here
            self.issue_end_ns = self.end_ns = self.begin_ns
            self.finished.set()

    @property
    def parts(self) -> list[LoadPart]:
        """The stage's own load, if it has one, then those of classes that bring theirs."""
        return self.share.parts

    @property
    def deadline_ns(self) -> int | None:
        """No request begins after this."""
        seconds = self.load.seconds
        return None if seconds is None else self.begin_ns + round(seconds * 1e9)

    def over(self, part: int | None = None) -> bool:
        """True once no further request (of this part) may begin."""
        deadline_ns = self.deadline_ns
        late = deadline_ns is not None and time.monotonic_ns() >= deadline_ns
        if late or self.stopped.is_set():
            return True
        return part is not None and self.parts[part].is_own and self.main_over.is_set()

    def take_role(self) -> Role | None:
        """The next role that nobody plays yet; None if there is none left."""
        if self._taken == len(self.roles):
            return None
        self._taken += 1
        return self.roles[self._taken - 1]

    def one_by_one_ns(self, at_ns: int) -> int:
        """When the next of the seats that are all to begin at `at_ns` does so.

        A worker needs some 0.3 ms to send one; all at once, the last of 500 would go out, and the
        first answers be read, 150 ms late.  So seats begin a millisecond apart, and where that
        would take more than a second, all of them within a second.
        """
        apart_ns = min(SEAT_APART_NS, ALL_SEATS_WITHIN_NS // max(1, len(self.roles)))
        self._begun[at_ns] += 1
        return at_ns + (self._begun[at_ns] - 1) * apart_ns

    def may_issue(self, part: int) -> bool:
        """Whether one more request of a closed part may begin; counts it."""
        if self.over(part):
            return False
        if self.quota is None or self.parts[part].is_own:
            return True
        self.quota -= 1
        return self.quota >= 0

    def phase(self, at_ns: int) -> Phase:
        """The phase of a request that is due, or dispatched, at this instant."""
        return "warmup" if at_ns - self.begin_ns < self.load.warmup_s * 1e9 else "measure"

    def issued(self) -> None:
        """A request begins now; the last one's time ends the issuing of a level by requests."""
        self.issue_end_ns = time.monotonic_ns()

    def issuing_ended(self, role: Role) -> None:
        """A user issues no more: by the clock, a request could have begun until now."""
        if self.over():
            self.issue_end_ns = time.monotonic_ns()
            if self.deadline_ns is not None:
                self.issue_end_ns = min(self.issue_end_ns, self.deadline_ns)
        if self._is_main(role):
            self._main_busy -= 1
            if self._main_busy == 0 and self.load.seconds is None:
                self.main_over.set()

    def leave(self) -> None:
        """A user has played its role; the last one ends the level."""
        self._busy -= 1
        if self._busy == 0:
            self.end_ns = time.monotonic_ns()
            self.finished.set()
            self.stopped.set()

    def _is_main(self, role: Role) -> bool:
        if role.part == CONDUCTOR:
            return bool(self.parts) and self.parts[0].is_open and not self.parts[0].is_own
        return not self.parts[role.part].is_own


def level_of(begin: dict[str, Any], worker: int, share: Share) -> Level:
    """What the leader's `begin` asks of a worker, whose share of that load it is."""
    quotas = begin["quotas"]
    if quotas[worker] is not None:
        share.number_from(sum(quotas[:worker]))
    return Level(
        stage=share.stage,
        load=share.load,
        share=share,
        roles=[Role(*role) for role in begin["roles"][worker]],
        begin_ns=begin["begin_ns"],
        quota=quotas[worker],
    )


def drain(level: Level, limits: Limits, cancel_all: Callable[[str], None]) -> None:
    """Wait for the level's end; streams still open after the drain limit are cancelled.

    The limit counts from the deadline, or from the instant at which the level was told to stop.  A
    level that ends by its number of requests lets each of them finish (limits.request_s).
    """
    deadline_ns = level.deadline_ns
    if deadline_ns is None:
        level.finished.wait()
        return
    if not level.roles and not isinstance(level.load, Idle):
        return
    level.stopped.wait(max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9))
    if not level.roles:  # a pause is as long as it says
        level.issue_end_ns = level.end_ns = time.monotonic_ns()
    elif not level.finished.wait(limits.drain_s):
        level.stopped.set()
        cancel_all(f"still open {limits.drain_s:g} s after the level's end (limits.drain_s)")
        level.finished.wait(2)
