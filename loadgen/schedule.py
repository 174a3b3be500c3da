"""(plan, seed) -> what each worker sends and when: pure, the same for any number of workers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from loadgen.arrivals import ARRIVALS
from loadgen.plan import OpenLoop, Plan
from loadgen.prompts import SyntheticPrompts


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


class Shard:
    """What worker `worker` of `n_workers` asks for, stage by stage.

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
        work = plan.workload
        self._prompts = SyntheticPrompts(work.prompt_tokens, plan.seed, unique=work.unique_prompts)

    def closed(self, stage: int, quota: int | None) -> Iterator[PlannedRequest]:
        """The requests of a closed stage in the order seats take them; endless without a quota."""
        indices = count(self._worker, self._n_workers)
        for _ in range(quota) if quota is not None else count():
            yield self._request(stage, next(indices), None)

    def open(self, stage: int) -> Iterator[PlannedRequest]:
        """This worker's share of an open stage's arrivals: every n-th of the whole schedule."""
        for index, due_ns in enumerate(due_times_ns(self._plan, stage)):
            if index % self._n_workers == self._worker:
                yield self._request(stage, index, due_ns)

    def _request(self, stage: int, index: int, due_ns: int | None) -> PlannedRequest:
        work = self._plan.workload
        return PlannedRequest(
            request_id=next(self._ids),
            stage=stage,
            due_ns=due_ns,
            prompt=self._prompts.prompt(stage, index),
            prompt_tokens=work.prompt_tokens,
            max_tokens=work.output_tokens,
            ignore_eos=work.ignore_eos,
            is_streamed=work.stream,
            inputs=work.inputs_per_request,
        )


def due_times_ns(plan: Plan, stage: int) -> Iterator[int]:
    """All arrivals of an open stage, ns from its begin; ends with its seconds or its requests."""
    load = plan.stages[stage]
    if not isinstance(load, OpenLoop):
        raise AssertionError(f"stage {stage} is not open loop")
    arrivals = ARRIVALS[load.arrivals](load.rate_per_s, Random(f"{plan.seed}/{stage}"))
    end_ns = None if load.seconds is None else load.seconds * 1e9
    for index, due_ns in enumerate(arrivals):
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
