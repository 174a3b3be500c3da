"""Who does what in a level: its parts, and the role of each Locust user.

A level's parts are the stage's own load over the classes with a share, and one for each class that
brings its own load.  All open parts of a worker are one conductor's work.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from loadgen.curves import Curve
from loadgen.plan import ClosedLoop, Idle, Load, OpenLoop, Plan, Replay
from loadgen.plan_stages import OwnClosed, OwnLoad
from loadgen.shapes import curve

CONDUCTOR = -1
"""As `Role.part`: the user that dispatches all arrivals of its worker."""


class Role(NamedTuple):
    """What one Locust user is in a level: seat `seat` of a closed part, over all workers."""

    part: int
    seat: int


@dataclass(frozen=True)  # not slotted: the curve is kept
class LoadPart:
    """A load and the classes (indices into plan.traffic()) that share it, with their shares."""

    load: Load
    classes: tuple[int, ...]
    shares: tuple[float, ...] = (1.0,)
    is_own: bool = False  # lasts as long as the level, whatever `load` says of its end

    @property
    def is_open(self) -> bool:
        """Whether the part follows a schedule."""
        return isinstance(self.load, OpenLoop | Replay)

    @cached_property
    def concurrency(self) -> Curve:
        """Of a closed part, over time; raises PlanError if its file cannot be used."""
        assert isinstance(self.load, ClosedLoop)
        return curve(self.load.concurrency, self.load.seconds)

    def n_seats(self) -> int:
        """Users that sit in a closed part: its largest concurrency; 0 for an open one."""
        return math.ceil(self.concurrency.peak) if isinstance(self.load, ClosedLoop) else 0

    def seat_classes(self) -> list[int]:
        """The class of each seat: all seats by largest remainder, the first n near the shares."""
        counts = split(self.n_seats(), self.shares)
        # Seats begin in their order on a ramp, so each class's lie evenly among the others'.
        places = [
            ((i + 0.5) / count, k)
            for k, count in zip(self.classes, counts, strict=True)
            for i in range(count)
        ]
        return [k for _, k in sorted(places)]

    def spans(self, seat: int) -> list[tuple[int, int]]:
        """The [begin, end) in ns of the level during which a seat is on."""
        return self.concurrency.above(seat)


def parts(plan: Plan, load: Load) -> list[LoadPart]:
    """The parts of a level; the stage's own load first."""
    traffic = plan.traffic()
    shared = tuple(i for i, t in enumerate(traffic) if t.load is None)
    shares = tuple(traffic[i].share for i in shared)
    found = [] if isinstance(load, Idle) else [LoadPart(load, shared, shares)]
    for i, one in enumerate(traffic):
        if one.load is not None:
            found.append(LoadPart(_as_load(one.load, load), (i,), is_own=True))
    return found


def split(n: int, shares: Sequence[float]) -> list[int]:
    """`n` things by shares: rounded down, the rest to the largest remainders (the first of equals).

    A share too small for one gets none.  Source: the method of Hamilton and Hare-Niemeyer.
    """
    exact = [n * share / sum(shares) for share in shares]
    given = [math.floor(x + 1e-9) for x in exact]
    by_rest = sorted(range(len(shares)), key=lambda i: given[i] - exact[i])
    for i in by_rest[: n - sum(given)]:
        given[i] += 1
    return given


def users_wanted(plan: Plan, load: Load, n_workers: int) -> int:
    """Locust users over all workers: one for each closed seat, a conductor in each worker."""
    found = parts(plan, load)
    conductors = n_workers if any(part.is_open for part in found) else 0
    return conductors + sum(part.n_seats() for part in found)


def roles(plan: Plan, load: Load, seats: Sequence[int]) -> list[list[Role]]:
    """For each worker the roles of its users, of which it has seats[worker].

    Every class's seats go round the workers, so that each worker has its part of every class and,
    on a ramp, of the seats that are on.  Raises ValueError where a worker that needs a conductor
    has no user.
    """
    found = parts(plan, load)
    given: list[list[Role]] = [[] for _ in seats]
    if any(part.is_open for part in found):
        if 0 in seats:
            raise ValueError(f"Locust gave the workers {list(seats)} users, and each needs one.")
        given = [[Role(CONDUCTOR, worker)] for worker in range(len(seats))]
    worker = 0
    for role in _by_class(found):
        for _ in seats:  # the next that has a user without a role
            if len(given[worker]) < seats[worker]:
                break
            worker = (worker + 1) % len(seats)
        given[worker].append(role)
        worker = (worker + 1) % len(seats)
    return [sorted(mine) for mine in given]


def followed(load: Load, given: Sequence[Sequence[Role]]) -> frozenset[int]:
    """The workers after whose end the others have only classes' own loads, which end with them.

    Empty where no worker has to be told: the clock ends the level, or the schedule, or every
    worker has seats of the stage's own load and sees itself when their requests are all begun.
    """
    if not isinstance(load, ClosedLoop) or load.seconds is not None:
        return frozenset()
    busy = frozenset(k for k, mine in enumerate(given) if mine)
    main = frozenset(k for k in busy if any(role.part == 0 for role in given[k]))
    return frozenset() if main == busy else main


def _by_class(found: list[LoadPart]) -> list[Role]:
    in_order = [
        (k, traffic, seat)
        for k, part in enumerate(found)
        if not part.is_open
        for seat, traffic in enumerate(part.seat_classes())
    ]
    return [Role(k, seat) for k, _, seat in sorted(in_order)]


def _as_load(own: OwnLoad, load: Load) -> Load:
    """As a stage's load, as long as the stage; one that ends by its requests ends this one too."""
    end = {"seconds": load.seconds or 86_400.0, "warmup_s": load.warmup_s}
    kind = ClosedLoop if isinstance(own, OwnClosed) else OpenLoop
    return kind.model_validate({**own.model_dump(), **end})
