"""The conductor of a worker's open loop: each request begins at its due instant, whatever is open.

Conversations arrive by the schedule; each later turn is due a think time after the answer before it
ended, and the same conductor begins it.  All of it happens in callbacks of the loop.
"""

import time
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import gevent
from gevent.event import Event

from loadgen.levels import Level, Sending
from loadgen.planned import PlannedRequest, Visit
from loadgen.seats import Role
from loadgen.transport.alarm import Alarm

NEVER_NS = 2**62
AT_ONCE = 4  # of many due at once; then the loop reads, for what waits longer than 1 ms is in doubt
BEHIND = "not begun when the level ended: the load generator was behind its schedule"


class _Turn(NamedTuple):
    due_ns: int
    order: int  # of two turns due at once the one known earlier; visits need not compare
    visit: Visit
    turn: int


class Conductor:
    """Plays one level's arrivals on one worker."""

    def __init__(self, level: Level, sending: Sending) -> None:
        self._level = level
        self._sending = sending
        self._arrivals = level.share.arrivals()
        self._next: tuple[Visit, PlannedRequest] | None = None  # made before it is due
        self._turns: list[_Turn] = []  # a heap
        self._known = count()
        self._open = 0
        self._talking = 0  # of those, with a turn to follow
        self._is_over = False
        self._exhausted = Event()  # set: nothing will become due any more
        self._quiet = Event()  # set: nothing is open
        self._mistake: Exception | None = None
        self._alarm = Alarm(self._on_time)

    def play(self, role: Role) -> None:
        """Begin every arrival and turn until there are no more; returns when all have ended."""
        level = self._level
        try:
            self._fetch()
            self._arm()
            self._wait()
            self._is_over = True
            self._record_owed(min(time.monotonic_ns(), level.deadline_ns or NEVER_NS))
            level.issuing_ended(role)
            if self._mistake is not None:
                raise self._mistake
            if self._open:
                self._quiet.wait()
        finally:
            self._alarm.close()
            level.leave()

    def _wait(self) -> None:
        """Until nothing can become due any more, or nothing may."""
        level = self._level
        if level.deadline_ns is None:
            gevent.wait([level.stopped, level.main_over, self._exhausted], count=1)
            return
        level.stopped.wait(max(0.0, (level.deadline_ns - time.monotonic_ns()) / 1e9))
        if self._next is not None or self._turns:  # we are behind: these are late, but not dropped
            gevent.wait([level.stopped, self._exhausted], count=1)

    def _on_time(self) -> None:
        try:
            self._begin_due()
        except Exception as mistake:  # of ours: it must end the level, not only this callback
            self._mistake = mistake
            self._level.stopped.set()

    def _begin_due(self) -> None:
        """Begin what is due; of very much the rest comes in the loop's next turn."""
        for _ in range(AT_ONCE):
            if self._level.stopped.is_set() or self._is_over:
                return
            arrival_ns, turn_ns = self._arrival_ns(), self._turn_ns()
            if min(arrival_ns, turn_ns) > time.monotonic_ns():
                break
            if arrival_ns <= turn_ns and self._next is not None:
                visit, planned = self._next
                self._begin(visit, 0, planned, arrival_ns)
                self._fetch()
            else:
                due_ns, _, visit, turn = heappop(self._turns)
                self._begin(visit, turn, self._planned(visit, turn, due_ns), due_ns)
        self._arm()

    def _arm(self) -> None:
        due_ns = min(self._arrival_ns(), self._turn_ns())
        if due_ns < NEVER_NS:
            self._alarm.set(due_ns)
        elif not self._talking:
            self._exhausted.set()

    def _arrival_ns(self) -> int:
        if self._next is None:
            return NEVER_NS
        return self._level.begin_ns + (self._next[1].due_ns or 0)

    def _turn_ns(self) -> int:
        return self._turns[0].due_ns if self._turns else NEVER_NS

    def _begin(self, visit: Visit, turn: int, planned: PlannedRequest, due_ns: int) -> None:
        self._level.issued()
        self._open += 1
        self._quiet.clear()
        self._talking += turn + 1 < visit.turns
        self._sending.dispatch(planned, due_ns, partial(self._ended, visit, turn))

    def _ended(self, visit: Visit, turn: int, end_ns: int | None) -> None:
        self._open -= 1
        if turn + 1 < visit.turns:
            self._talking -= 1
            if not self._is_over:
                if end_ns is not None:
                    self._follow(visit, turn + 1, end_ns)
                self._arm()
        if self._open == 0:
            self._quiet.set()

    def _follow(self, visit: Visit, turn: int, end_ns: int) -> None:
        """The next turn is due a think time after the answer ended, if the level lasts so long."""
        due_ns = end_ns + self._level.share.think_ns(visit, turn)
        if due_ns < (self._level.deadline_ns or NEVER_NS):
            heappush(self._turns, _Turn(due_ns, next(self._known), visit, turn))

    def _record_owed(self, until_ns: int) -> None:
        """No arrival that was due is missing from the data."""
        while self._arrival_ns() <= until_ns and self._next is not None:
            _, planned = self._next
            self._sending.not_sent(planned, self._arrival_ns(), BEHIND)
            self._fetch()

    def _fetch(self) -> None:
        visit = next(self._arrivals, None)
        if visit is None:
            self._next = None
            return
        due_ns = self._level.begin_ns + (visit.due_ns or 0)
        self._next = visit, self._planned(visit, 0, due_ns)

    def _planned(self, visit: Visit, turn: int, due_ns: int) -> PlannedRequest:
        level = self._level
        return level.share.request(visit, turn, due_ns - level.begin_ns, level.phase(due_ns))
