"""(plan, seed) -> what each worker sends and when: pure, the same for any number of workers."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import count, cycle
from random import Random
from typing import Any, Literal

from loadgen.arrivals import ARRIVALS
from loadgen.plan import ClosedLoop, Load, OpenLoop, Plan
from loadgen.plan_lengths import mean_of
from loadgen.prompts import SyntheticPrompts
from loadgen.seats import LoadPart, Role, class_of_seat, is_open, parts


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """One request as the plan wants it.  due_ns counts from the stage's begin; None if closed."""

    request_id: int
    stage: int
    due_ns: int | None
    prompt: str
    prompt_tokens: int
    max_tokens: int
    ignore_eos: bool
    is_streamed: bool = True  # False: one answer in one piece
    inputs: int = 1  # prompts per request (embeddings)
    traffic: int = 0  # index into plan.traffic()
    messages: list[dict[str, Any]] | None = None  # None: one user message, the prompt
    conversation: int | None = None
    turn: int | None = None
    prefix_group: int | None = None
    prompt_no: int | None = None  # identity of a prompt that may come again
    phase: Literal["warmup", "measure"] = "measure"


class Shard:
    """What worker `worker` of `n_workers` asks for, level by level.

    request_id = worker + n_workers * k: unique in the run without talking to each other.
    """

    def __init__(self, plan: Plan, worker: int, n_workers: int) -> None:
        if not 0 <= worker < n_workers:
            raise AssertionError(
                f"worker {worker} of {n_workers}: a reconnected worker has no shard"
            )
        self._plan = plan
        self._worker = worker
        self._n_workers = n_workers
        self._ids = count(worker, n_workers)
        self._prompts = [
            SyntheticPrompts(
                round(mean_of(t.workload.prompt_tokens) or 1),
                plan.seed,
                unique=t.workload.unique_prompts,
            )
            for t in plan.traffic()
        ]

    def seat(self, stage: int, load: Load, role: Role) -> Iterator[PlannedRequest]:
        """The requests of one seat of a closed part, in order; endless: the level has an end.

        Its n-th request is the same on whichever worker it sits.
        """
        part = parts(self._plan, load)[role.part]
        assert isinstance(part.load, ClosedLoop)
        traffic = class_of_seat(self._plan, part, role.seat)
        for n in count():
            yield self._request(stage, traffic, n * part.load.peak + role.seat, None)

    def open(self, stage: int, load: Load) -> Iterator[PlannedRequest]:
        """This worker's share of the level's arrivals: every n-th of the whole schedule."""
        for index, (due_ns, traffic) in enumerate(arrivals(self._plan, stage, load)):
            if index % self._n_workers == self._worker:
                yield self._request(stage, traffic, index, due_ns)

    def _request(self, stage: int, traffic: int, index: int, due_ns: int | None) -> PlannedRequest:
        work = self._plan.traffic()[traffic].workload
        return PlannedRequest(
            request_id=next(self._ids),
            stage=stage,
            due_ns=due_ns,
            prompt=self._prompts[traffic].prompt(stage, index),
            prompt_tokens=round(mean_of(work.prompt_tokens) or 1),
            max_tokens=round(mean_of(work.output_tokens) or 1),
            ignore_eos=work.ignore_eos,
            is_streamed=work.stream,
            inputs=work.inputs_per_request,
            traffic=traffic,
        )


def arrivals(plan: Plan, stage: int, load: Load) -> Iterator[tuple[int, int]]:
    """(due_ns from the level's begin, class) of every arrival of a level's open parts, in order."""
    found = [p for p in parts(plan, load) if is_open(p)]
    yield from merge(*(_part_arrivals(plan, stage, k, part) for k, part in enumerate(found)))


def _part_arrivals(plan: Plan, stage: int, k: int, part: LoadPart) -> Iterator[tuple[int, int]]:
    classes = cycle(part.classes)
    for due_ns in due_times_ns(plan, stage, part.load, k):
        yield due_ns, next(classes)


def due_times_ns(plan: Plan, stage: int, load: Load, part: int = 0) -> Iterator[int]:
    """All arrivals of an open load, ns from its begin; ends with its seconds or its requests."""
    if not isinstance(load, OpenLoop) or not isinstance(load.rate_per_s, float | int):
        raise AssertionError(f"level {stage} is not open loop at a constant rate")
    seed = f"{plan.seed}/{stage}" if part == 0 else f"{plan.seed}/{stage}/{part}"
    times = ARRIVALS[load.arrivals](load.rate_per_s, Random(seed))
    end_ns = None if load.seconds is None else load.seconds * 1e9
    for index, due_ns in enumerate(times):
        if load.requests is not None and index >= load.requests:
            return
        if end_ns is not None and due_ns >= end_ns:
            return
        yield due_ns


def quotas(requests: int | None, seats: list[int]) -> list[int | None]:
    """A closed stage's requests split over workers in proportion to their seats; sums exactly."""
    if requests is None:
        return [None] * len(seats)
    total, given, upto = sum(seats), 0, 0
    shares: list[int | None] = []
    for n in seats:
        upto += n
        share = requests * upto // total - given
        shares.append(share)
        given += share
    return shares
