"""Who does what in a level: its parts, and the role of each Locust user.

A level's parts are the stage's own load over the classes with a share, and one for each class that
brings its own load.  All open parts of a worker are one conductor's work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loadgen.plan import ClosedLoop, Idle, Load, OpenLoop, Plan, Replay
from loadgen.plan_stages import OwnClosed

CONDUCTOR = -1
"""As `Role.part`: the user that dispatches all arrivals of its worker."""


class Role(NamedTuple):
    """What one Locust user is in a level: seat `seat` of a closed part, over all workers."""

    part: int
    seat: int


@dataclass(frozen=True, slots=True)
class LoadPart:
    """A load and the classes (indices into plan.traffic()) that share it."""

    load: Load
    classes: tuple[int, ...]
    is_own: bool = False  # lasts as long as the level, whatever `load` says of its end


def parts(plan: Plan, load: Load) -> list[LoadPart]:
    """The parts of a level; the stage's own load first."""
    traffic = plan.traffic()
    shared = tuple(i for i, t in enumerate(traffic) if t.load is None)
    found = [] if isinstance(load, Idle) else [LoadPart(load, shared)]
    for i, one in enumerate(traffic):
        if one.load is not None:
            found.append(LoadPart(_as_load(one.load, load), (i,), is_own=True))
    return found


def _as_load(own: object, load: Load) -> Load:
    end = {"seconds": load.seconds or 86_400.0, "warmup_s": 0.0}
    kind = ClosedLoop if isinstance(own, OwnClosed) else OpenLoop
    return kind(**own.model_dump(), **end)  # type: ignore[attr-defined]  # both are models


def class_of_seat(plan: Plan, part: LoadPart, seat: int) -> int:
    """Which class a closed part's seat belongs to: the shares hold for seats 0 … n, for every n.

    Seat by seat, the class that is furthest behind its share.
    """
    shares = [plan.traffic()[i].share for i in part.classes]
    given = [0] * len(shares)
    chosen = 0
    for n in range(1, seat + 2):
        behind = [n * s / sum(shares) - g for s, g in zip(shares, given, strict=True)]
        chosen = behind.index(max(behind))
        given[chosen] += 1
    return part.classes[chosen]


def closed_seats(part: LoadPart) -> int:
    """Users that sit in a closed part; 0 for an open one."""
    return part.load.peak if isinstance(part.load, ClosedLoop) else 0


def is_open(part: LoadPart) -> bool:
    """Whether the part follows a schedule."""
    return isinstance(part.load, OpenLoop | Replay)


def users_wanted(plan: Plan, load: Load, n_workers: int) -> int:
    """Locust users over all workers: one for each closed seat, a conductor in each worker."""
    found = parts(plan, load)
    conductors = n_workers if any(map(is_open, found)) else 0
    return conductors + sum(map(closed_seats, found))


def roles(plan: Plan, load: Load, seats: Sequence[int]) -> list[list[Role]]:
    """For each worker the roles of its users, of which it has seats[worker].

    Raises ValueError where a worker that needs a conductor has no user.
    """
    found = parts(plan, load)
    given: list[list[Role]] = [[] for _ in seats]
    if any(map(is_open, found)):
        if 0 in seats:
            raise ValueError(f"Locust gave the workers {list(seats)} users, and each needs one.")
        given = [[Role(CONDUCTOR, worker)] for worker in range(len(seats))]
    waiting = [Role(k, seat) for k, part in enumerate(found) for seat in range(closed_seats(part))]
    worker = 0
    for role in waiting:  # round the workers, as long as they have users without a role
        for _ in seats:
            if len(given[worker]) < seats[worker]:
                break
            worker = (worker + 1) % len(seats)
        given[worker].append(role)
        worker = (worker + 1) % len(seats)
    return given
