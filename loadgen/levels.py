"""One load level on one worker: closed loop keeps seats busy, open loop follows a schedule.

A seat is a greenlet that Locust spawned; how many there are is Locust's doing, which role each
plays the leader says (seats.roles), and what that means is here.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gevent
from gevent.event import Event
from gevent.pool import Group

from loadgen.plan import Limits, Load
from loadgen.schedule import PlannedRequest
from loadgen.seats import CONDUCTOR, LoadPart, Role
from loadgen.transport.alarm import Alarm

SEAT_APART_NS = 1_000_000
COARSE_NS = 100_000_000  # up to here a stop is noticed; the rest of the wait is exact

Perform = Callable[[PlannedRequest, int | None], None]
"""(request, its due instant on the monotonic line) -> returns when its stream has ended."""


@dataclass(slots=True)
class Level:
    """What both kinds of load have: a begin, an end of issuing, an end of the last stream.

    roles: those of this worker's users, who take them in order; quota: requests that its seats of
    the stage's own load may begin, None without such a limit.
    """

    stage: int
    load: Load
    parts: list[LoadPart]
    roles: list[Role]
    begin_ns: int
    quota: int | None = None
    stopped: Event = field(default_factory=Event)  # set: issue no more
    finished: Event = field(default_factory=Event)  # every stream of the level has ended
    issue_end_ns: int | None = None
    end_ns: int | None = None
    _busy: int = 0
    _taken: int = 0

    def __post_init__(self) -> None:
        self._busy = len(self.roles)
        if not self.roles:  # more workers than streams, or a pause: nothing to do here
            self.issue_end_ns = self.end_ns = self.begin_ns
            self.finished.set()

    @property
    def deadline_ns(self) -> int | None:
        """No request begins after this."""
        seconds = self.load.seconds
        return None if seconds is None else self.begin_ns + round(seconds * 1e9)

    def over(self) -> bool:
        """True once no further request may begin."""
        deadline_ns = self.deadline_ns
        late = deadline_ns is not None and time.monotonic_ns() >= deadline_ns
        return late or self.stopped.is_set()

    def take_role(self) -> Role | None:
        """The next role that nobody plays yet; None if there is none left."""
        if self._taken == len(self.roles):
            return None
        self._taken += 1
        return self.roles[self._taken - 1]

    def seat_begin_ns(self, role: Role) -> int:
        """When a seat begins its first request.

        A worker needs some 0.3 ms to send one; all at once, the last of 500 would go out, and the
        first answers be read, 150 ms late.  So seats begin a millisecond apart.
        """
        return self.begin_ns + self.roles.index(role) * SEAT_APART_NS

    def may_issue(self, part: int) -> bool:
        """Whether one more request of a closed part may begin; counts it."""
        if self.over():
            return False
        if self.quota is None or self.parts[part].is_own:
            return True
        self.quota -= 1
        return self.quota >= 0

    def leave(self) -> None:
        """A user has played its role."""
        self._busy -= 1
        if self._busy == 0:
            self.end_ns = time.monotonic_ns()
            self.finished.set()

    def issued(self) -> None:
        """A request begins now; the last one's time ends the issuing of a level by requests."""
        self.issue_end_ns = time.monotonic_ns()

    def issuing_ended(self) -> None:
        """A seat issues no more: by the clock, a request could have begun until now."""
        if self.over():
            self.issue_end_ns = time.monotonic_ns()
            if self.deadline_ns is not None:
                self.issue_end_ns = min(self.issue_end_ns, self.deadline_ns)


def closed_seat(
    level: Level, role: Role, requests: Iterator[PlannedRequest], perform: Perform
) -> None:
    """One user of closed loop: the next request begins when the last answer has ended."""
    try:
        _until(level.seat_begin_ns(role), level.stopped)
        while level.may_issue(role.part):
            level.issued()
            perform(next(requests), None)
        level.issuing_ended()
    finally:  # also if Locust takes the seat away: a level must not wait for it for ever
        level.leave()


def conductor(
    level: Level, role: Role, requests: Iterator[PlannedRequest], perform: Perform
) -> None:
    """The conductor of this worker's arrivals: each begins at its due instant, whatever is open."""
    assert role.part == CONDUCTOR
    alarm = Alarm()
    open_streams = Group()
    try:
        for planned in requests:
            due_ns = level.begin_ns + (planned.due_ns or 0)
            _until(due_ns - COARSE_NS, level.stopped)
            alarm.wait_until(due_ns)
            if level.stopped.is_set():
                break
            level.issued()
            open_streams.add(gevent.spawn(perform, planned, due_ns))
        _until(level.deadline_ns or 0, level.stopped)
        level.issuing_ended()
        open_streams.join()
    finally:
        alarm.close()
        level.leave()


def drain(level: Level, limits: Limits, cancel_all: Callable[[str], None]) -> None:
    """Wait for the level's end; streams still open after the drain limit are cancelled.

    A level that ends by its number of requests lets each of them finish (limits.request_s).
    """
    deadline_ns = level.deadline_ns
    if deadline_ns is None:
        level.finished.wait()
        return
    if not level.roles:  # a pause is as long as it says
        _until(deadline_ns, level.stopped)
        level.issue_end_ns = level.end_ns = time.monotonic_ns()
        return
    left_s = (deadline_ns - time.monotonic_ns()) / 1e9 + limits.drain_s
    if not level.finished.wait(max(0.0, left_s)):
        level.stopped.set()
        cancel_all(f"still open {limits.drain_s:g} s after the level's end (limits.drain_s)")
        level.finished.wait(2)


def _until(instant_ns: int, unless: Event | None = None) -> None:
    left_s = (instant_ns - time.monotonic_ns()) / 1e9
    if left_s > 0:
        (unless or Event()).wait(left_s)
