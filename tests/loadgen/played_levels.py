"""Levels played by real greenlets against an endpoint that only waits."""

import time
from dataclasses import dataclass, field

import gevent

from loadgen.closed_seat import closed_seat
from loadgen.conductor import Conductor
from loadgen.levels import Level, OnEnd, drain
from loadgen.plan import Limits, parse
from loadgen.planned import PlannedRequest
from loadgen.schedule import Shard
from loadgen.seats import CONDUCTOR, parts, roles

MS = 1_000_000
HEAD_START_NS = 20 * MS
TARGET = {"url": "http://127.0.0.1:1", "model": "m"}


@dataclass
class Endpoint:
    """Answers after `takes_s`, but never to turn `fails_at`; keeps what it was sent."""

    takes_s: float = 0.005
    fails_at: int | None = None
    sent: list[tuple[int, PlannedRequest, int | None]] = field(default_factory=list)
    ended: dict[int, int] = field(default_factory=dict)
    unsent: list[tuple[PlannedRequest, int, str]] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    def perform(self, planned: PlannedRequest) -> int | None:
        return self._answer(planned, None)

    def dispatch(self, planned: PlannedRequest, due_ns: int, on_end: OnEnd) -> None:
        gevent.spawn(lambda: on_end(self._answer(planned, due_ns)))

    def not_sent(self, planned: PlannedRequest, due_ns: int, why: str) -> None:
        self.unsent.append((planned, due_ns, why))

    def _answer(self, planned: PlannedRequest, due_ns: int | None) -> int | None:
        self.sent.append((time.monotonic_ns(), planned, due_ns))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        gevent.sleep(self.takes_s)
        self.open -= 1
        self.ended[planned.request_id] = time.monotonic_ns()
        is_failed = self.fails_at is not None and planned.turn == self.fails_at
        return None if is_failed else self.ended[planned.request_id]


def level_of(stage, *classes, quota=None):
    """Worker 0 of one; its level begins in a moment."""
    raw = {"target": TARGET, "classes": list(classes), "stages": [stage]}
    plan = parse(raw)
    load = plan.stages[0]
    open_parts = any(part.is_open for part in parts(plan, load))
    n = sum(part.n_seats() for part in parts(plan, load)) + open_parts
    share = Shard(plan, 0, 1).share(0, load)
    begin_ns = time.monotonic_ns() + HEAD_START_NS
    return Level(0, load, share, roles(plan, load, [n])[0], begin_ns, quota)


def play(level: Level, endpoint: Endpoint, drain_s: float = 5.0) -> list[str]:
    """To the level's end; returns what was said when its streams were cancelled."""

    def user() -> None:
        role = level.take_role()
        assert role is not None
        if role.part == CONDUCTOR:
            Conductor(level, endpoint).play(role)
        else:
            closed_seat(level, role, endpoint)

    users = [gevent.spawn(user) for _ in level.roles]
    cancelled: list[str] = []
    with gevent.Timeout(10):
        drain(level, Limits(drain_s=drain_s), cancelled.append)
        if not cancelled:
            gevent.joinall(users, raise_error=True)
    gevent.killall(users)
    return cancelled


def since_begin_ms(level: Level, endpoint: Endpoint) -> list[float]:
    return [(at_ns - level.begin_ns) / MS for at_ns, _, _ in endpoint.sent]
