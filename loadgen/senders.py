"""A worker's senders, one for each class of traffic; those of one target share its connections."""

from typing import Any

from loadgen.hearing import TeeSpool
from loadgen.memory_spool import MemorySpool
from loadgen.plan import MAIN_TARGET, Plan
from loadgen.planned import PlannedRequest
from loadgen.sender import Sender
from loadgen.transport.connection import Phases
from loadgen.transport.pool import Pool
from loadgen.transport.stats import ReadStats, worst_of


class Senders:
    """`senders[i]` sends the requests of plan.traffic()[i]; the rest is over all targets.

    Only a target that holds conversations has its answers listened to.
    """

    def __init__(self, plan: Plan, run: dict[str, Any], spool: Any) -> None:
        self._pools: dict[str, Pool] = {}
        self._senders: list[Sender] = []
        self._names = [traffic.target or MAIN_TARGET for traffic in plan.traffic()]
        self._tees = {
            name: TeeSpool(spool)
            for name, traffic in zip(self._names, plan.traffic(), strict=True)
            if traffic.workload.conversation is not None
        }
        for i, name in enumerate(self._names):
            kept = self._tees.get(name, spool)
            sender = Sender(plan, run, kept, i, self._pools.get(name))
            self._pools[name] = sender.pool
            self._senders.append(sender)

    def __getitem__(self, traffic: int) -> Sender:
        return self._senders[traffic]

    def listen(self, planned: PlannedRequest) -> None:
        """Keep what will be read for a turn of a conversation, which is not begun yet."""
        self._tees[self._names[planned.traffic]].listen(planned.request_id)

    def heard(self, planned: PlannedRequest) -> MemorySpool:
        """What was read for it, now that it has ended; it is kept no longer."""
        return self._tees[self._names[planned.traffic]].heard(planned.request_id)

    def warm(self, n: int) -> None:
        """Open n connections to each target; raises ConnectFailed."""
        for pool in self._pools.values():
            pool.warm(n)

    def cancel_all(self, detail: str) -> None:
        """End every request under way."""
        for pool in self._pools.values():
            pool.cancel_all(detail)

    def close(self) -> None:
        """Cancel what is under way and close all connections."""
        for pool in self._pools.values():
            pool.close()

    def take_stats(self) -> ReadStats:
        """How late reads were since the last call; of several targets the latest."""
        return worst_of([pool.take_stats() for pool in self._pools.values()])

    def take_connects(self) -> list[Phases]:
        """The phases of each connection opened since the last call."""
        return [phases for pool in self._pools.values() for phases in pool.take_connects()]

    def rtt_us(self) -> int | None:
        """The kernel's round-trip time; of several targets the longest."""
        return max(
            (us for p in self._pools.values() if (us := p.rtt_us()) is not None), default=None
        )
