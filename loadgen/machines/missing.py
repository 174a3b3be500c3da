"""What a lost load worker was to do, and what of it was measured: arithmetic and a sentence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from loadgen.plan import ClosedLoop, Load, Plan
from loadgen.seats import CONDUCTOR, Role

_NOT_MEASURED = ("cancelled",)


@dataclass(frozen=True, slots=True)
class Duty:
    """A worker's part in the level in which it was lost.

    share: of the level's load, 0 to 1.  n_requests: of the schedule; None where the level ends by
    the clock alone, so that nobody knows how many there would have been.
    """

    stage: int
    level: str
    share: float
    n_requests: int | None


@dataclass(frozen=True, slots=True)
class Missing:
    """For the run's record: from when on which part of a level's load was missing."""

    worker: int
    how: str
    stage: int
    level: str
    into_s: float  # since the level's begin
    share: float
    n_requests: int | None
    n_measured: int

    def to_dict(self) -> dict[str, Any]:
        """As run.json keeps it."""
        return asdict(self)


def duty(
    stage: int,
    load: Load,
    given: Sequence[Sequence[Role]],
    worker: int,
    n_arrivals: Callable[[], int],
) -> Duty:
    """What `worker` had to do in a level whose roles are `given`.

    n_arrivals: counts those of the whole level, if it has some.  A worker's share of a number of
    requests in closed loop is that of its users.
    """
    conductors = [k for k, each in enumerate(given) if any(r.part == CONDUCTOR for r in each)]
    n_closed = sum(role.part != CONDUCTOR for each in given for role in each)
    n_mine = sum(role.part != CONDUCTOR for role in given[worker])
    shares: list[float] = []
    if n_closed:
        shares.append(n_mine / n_closed)
    if conductors:
        shares.append((worker in conductors) / len(conductors))
    n_requests = None
    if isinstance(load, ClosedLoop):
        if load.requests is not None and n_closed:
            n_requests = round(load.requests * n_mine / n_closed)
    elif worker in conductors:
        n_requests = len(range(conductors.index(worker), n_arrivals(), len(conductors)))
    return Duty(stage, load.name, sum(shares) / max(len(shares), 1), n_requests)


def n_arrivals(plan: Plan, stage: int, load: Load) -> int:
    """Of a whole level."""
    from loadgen.level_schedule import LevelSchedule

    return sum(len(rows) for rows in LevelSchedule(plan, stage, load).rows())


def n_ended(live_lines: Iterable[dict[str, Any]]) -> int:
    """Requests that a worker saw to their end, by its decoder's live lines."""
    outcomes = (line["outcomes"] for line in live_lines)
    return sum(n for each in outcomes for name, n in each.items() if name not in _NOT_MEASURED)


def sentence(name: str, missing: Missing, went_on: bool) -> str:
    """For the run's notes."""
    of = "" if missing.n_requests is None else f" of its {missing.n_requests:,}"
    less = (
        f"from then on {missing.share:.0%} of that level's load was missing, so its figures are of "
        "less load than its name says."
        if went_on
        else f"its share of that level's load was {missing.share:.0%}."
    )
    return (
        f"{name} {missing.how}, {missing.into_s:.1f} s into {missing.level}: {less} "
        f"{missing.n_measured:,}{of} requests were measured by that worker."
    )
