"""Which connection is which load worker: admitted once, by number, and heard of ever since.

Locust numbers whoever connects upwards for ever; a load worker has a place in the schedule, so a
number too many, or one that is taken, is refused aloud.
"""

from dataclasses import dataclass, field
from typing import Any

from loadgen.machines.post import Post

WORTH_A_WORD_NS = 4_000_000_000  # a worker is heard each second


@dataclass(slots=True)
class Outage:
    """A worker that was not heard for a while and came back."""

    worker: int
    from_ns: int
    for_ns: int


@dataclass(slots=True)
class Seated:
    """An admitted load worker's connection."""

    worker: int
    node_id: str
    heard_ns: int
    post: Post = field(default_factory=Post)


class Roster:
    """The load workers of one run, here and elsewhere."""

    def __init__(self, run_uid: str, n_workers: int) -> None:
        self._run_uid = run_uid
        self._n_workers = n_workers
        self._seated: dict[str, Seated] = {}
        self._lost: set[int] = set()
        self.outages: list[Outage] = []

    def admit(self, node_id: str, here: Any, now_ns: int) -> str | None:
        """Take in a connection by its first words; a sentence if it may not take part."""
        if not isinstance(here, dict) or here.get("run_uid") != self._run_uid:
            return f"it belongs to another run than {self._run_uid}."
        worker = here.get("worker")
        if not isinstance(worker, int) or not 0 <= worker < self._n_workers:
            return f"it calls itself load worker {worker!r} of {self._n_workers}."
        if self.of_worker(worker) is not None or worker in self._lost:
            return f"load worker {worker} has joined before; its part of the load is its alone."
        self._seated[node_id] = Seated(worker, node_id, now_ns)
        return None

    def of(self, node_id: str) -> Seated | None:
        """None for a connection that was not admitted, or whose worker was given up."""
        return self._seated.get(node_id)

    def of_worker(self, worker: int) -> Seated | None:
        """None while it has not joined, or after it was given up."""
        return next((s for s in self._seated.values() if s.worker == worker), None)

    def all(self) -> list[Seated]:
        """Whoever takes part."""
        return list(self._seated.values())

    def heard(self, seated: Seated, now_ns: int) -> None:
        """A message came from it."""
        silent_ns = now_ns - seated.heard_ns
        if silent_ns > WORTH_A_WORD_NS:
            self.outages.append(Outage(seated.worker, seated.heard_ns, silent_ns))
        seated.heard_ns = now_ns

    def give_up(self, worker: int) -> Seated | None:
        """It takes no further part, whatever it may still say."""
        self._lost.add(worker)
        seated = self.of_worker(worker)
        if seated is not None:
            del self._seated[seated.node_id]
        return seated
