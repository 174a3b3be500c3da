"""The levels that a plan will run, with their real arrivals as far as they are known beforehand."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from loadgen.arrival_rows import Rows
from loadgen.curves import NS, Floats, Ints
from loadgen.level_schedule import LevelSchedule
from loadgen.plan import ClosedLoop, Load, OpenLoop, Plan
from loadgen.plan_lengths import mean_of
from loadgen.plan_stages import Search, Stage, Sweep
from loadgen.program import sweep_levels
from loadgen.prompts.material import Material
from loadgen.seats import LoadPart, parts
from loadgen.shapes import curve

MOST_ARRIVALS = 200_000  # drawn and counted one by one; beyond them the planned rate tells
TOKENS_PER_S = 50.0  # assumed for one stream where nothing was measured yet; said wherever used
FIRST_TOKEN_S = 0.3
NO_ROWS = Rows(*(np.zeros(0, np.int64) for _ in range(4)))
UNKNOWN_ANSWER_TOKENS = 128.0  # assumed where lengths are in a file that nobody has read yet


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One level, or a stage whose levels are found while it runs (`hint` says so).

    due_s, traffic, index: arrivals from the level's begin, a row each; index as in Rows.
    whole_s: how far they go; beyond it only the rate is known.  requests: of each class, by its
    number; guessed: whether some of them depend on how fast the endpoint answers.
    """

    load: Load | None
    name: str
    seconds: float
    parts: tuple[LoadPart, ...]
    due_s: Floats
    traffic: Ints
    index: Ints
    requests: tuple[float, ...]
    schedule: LevelSchedule | None = None
    guessed: bool = False
    whole_s: float = math.inf
    hint: str = ""


class _Unread(Material):
    """No prompts: a forecast reads no file of them, so turns are as the plan draws."""

    def __init__(self) -> None:
        pass

    def turns(self, level: int, traffic: int, numbers: Ints) -> None:
        """As the plan draws."""
        del level, traffic, numbers


def forecast_levels(plan: Plan) -> Iterator[Level]:
    """Every level in order.  Raises ValueError if a file that the load names is no good."""
    number, left = 0, MOST_ARRIVALS
    for stage in plan.stages:
        if isinstance(stage, Search) or (isinstance(stage, Sweep) and stage.doubling):
            yield _found_later(plan, stage)
            continue
        for load in sweep_levels(stage) if isinstance(stage, Sweep) else [stage]:
            level = _known(plan, number, load, left)
            left -= len(level.due_s)
            number += 1
            yield level


def _known(plan: Plan, number: int, load: Load, most: int) -> Level:
    schedule = LevelSchedule(plan, number, load, _Unread())
    found = parts(plan, load)
    closed_per_s = {k: v for part in found for k, v in _closed_rates(plan, part).items()}
    shared = [part for part in found if not part.is_own]
    seconds = load.seconds
    if seconds is None and shared and not shared[0].is_open:
        mine = sum(closed_per_s[k] for k in shared[0].classes)
        seconds = (load.requests or 0) / mine
    rows, is_cut = _arrivals(schedule, seconds, most)
    due_s = rows.due_ns / NS
    if seconds is None:
        seconds = _open_end_s(load, due_s, is_cut)
    rates = {k: v for part in found if part.is_open for k, v in _open_rates(part, seconds).items()}
    counts = np.bincount(rows.traffic, weights=rows.turns, minlength=len(plan.traffic()))
    requests = [
        closed_per_s.get(k, 0.0) * seconds + (rates.get(k, 0.0) if is_cut else float(counts[k]))
        for k in range(len(plan.traffic()))
    ]
    if load.requests is not None and shared:
        requests = _at_most(requests, shared[0].classes, load.requests)
        if not shared[0].is_open:
            per_s = sum(closed_per_s[k] for k in shared[0].classes)
            seconds = min(seconds, load.requests / per_s)
    return Level(
        load=load,
        name=load.name,
        seconds=seconds,
        parts=tuple(found),
        due_s=due_s,
        traffic=rows.traffic,
        index=rows.index,
        requests=tuple(requests),
        schedule=schedule,
        guessed=bool(closed_per_s),
        whole_s=float(due_s[-1]) if is_cut and len(due_s) else math.inf,
    )


def _arrivals(schedule: LevelSchedule, seconds: float | None, most: int) -> tuple[Rows, bool]:
    """The first `most` arrivals, and whether there are more."""
    blocks, n = [NO_ROWS], 0
    for rows in schedule.rows():
        blocks.append(rows)
        n += len(rows)
        if n > most or (seconds is not None and rows.due_ns[-1] >= seconds * NS):
            break
    found = Rows.joined(blocks).take(slice(most))
    return found if seconds is None else found.take(found.due_ns < seconds * NS), n > most


def _open_end_s(load: Load, due_s: Floats, is_cut: bool) -> float:
    """How long a load goes on that has no seconds."""
    if is_cut and isinstance(load, OpenLoop) and isinstance(load.rate_per_s, int | float):
        return (load.requests or 0) / load.rate_per_s
    return float(due_s[-1]) if len(due_s) else 0.0


def _closed_rates(plan: Plan, part: LoadPart) -> dict[int, float]:
    """Class -> requests/s of a closed part, by the assumed speed of an answer; mean of a shape."""
    if not isinstance(part.load, ClosedLoop):
        return {}
    load, total = part.load, sum(part.shares)
    streams = curve(load.concurrency, load.seconds)
    mean = streams.areas()[-1] / (streams.end_ns / NS)
    think_s = mean_of(load.think_s) or 0.0
    return {
        k: mean * share / total / _cycle_s(plan, k, think_s)
        for k, share in zip(part.classes, part.shares, strict=True)
    }


def _cycle_s(plan: Plan, k: int, think_s: float) -> float:
    """From one request of a user to the next, on average."""
    work = plan.traffic()[k].workload
    answer_s = FIRST_TOKEN_S + (mean_of(work.output_tokens) or UNKNOWN_ANSWER_TOKENS) / TOKENS_PER_S
    if work.conversation is None:
        return answer_s + think_s
    turns = mean_of(work.conversation.turns) or 1.0
    reading_s = mean_of(work.conversation.think_s) or 0.0
    return answer_s + (think_s + (turns - 1) * reading_s) / turns


def _open_rates(part: LoadPart, seconds: float) -> dict[int, float]:
    """Class -> arrivals that the planned rate makes; for those too many to be counted."""
    if not isinstance(part.load, OpenLoop):
        return {}
    whole = float(curve(part.load.rate_per_s, part.load.seconds).area(round(seconds * NS)))
    shares = zip(part.classes, part.shares, strict=True)
    return {k: whole * share / sum(part.shares) for k, share in shares}


def _at_most(requests: list[float], classes: tuple[int, ...], most: int) -> list[float]:
    """The shared classes' requests end at the level's own number of them."""
    total = sum(requests[k] for k in classes)
    part = min(1.0, most / total) if total else 1.0
    return [n * part if k in classes else n for k, n in enumerate(requests)]


def _found_later(plan: Plan, stage: Stage) -> Level:
    """A search, or a sweep by doubling: at most so long, and nobody knows at which loads."""
    if isinstance(stage, Search):
        low, high, over = stage.low, stage.high, stage.over
        probes = math.ceil(math.log2(high / low)) + 1 + math.ceil(math.log2(1 / stage.tolerance))
        seconds, name = probes * (stage.seconds + stage.warmup_s), "search"
    else:
        assert isinstance(stage, Sweep)
        assert stage.doubling is not None
        low, high, over = stage.doubling.start, stage.doubling.most, stage.doubling.over
        probes = math.ceil(math.log2(max(1.0, high / low))) + 1
        seconds, name = probes * (stage.seconds or 60.0), "doubling"
    unit = "streams" if over == "concurrency" else "requests/s"
    hint = (
        f"The {name} tries loads between {low:g} and {high:g} {unit}: which, is unknown until it "
        f"runs; about {probes} levels at most."
    )
    nobody = (0.0,) * len(plan.traffic())
    none = NO_ROWS
    return Level(None, name, seconds, (), np.zeros(0), none.traffic, none.index, nobody, hint=hint)
