"""A worker's senders, one for each class of traffic; those of one target share its connections."""

from typing import Any

from loadgen.plan import MAIN_TARGET, Plan
from loadgen.sender import Sender
from loadgen.transport.connection import Phases
from loadgen.transport.pool import Pool
from loadgen.transport.stats import ReadStats, worst_of


class Senders:
    """`senders[i]` sends the requests of plan.traffic()[i]; the rest is over all targets."""

    def __init__(self, plan: Plan, run: dict[str, Any], spool: Any) -> None:
        self._pools: dict[str, Pool] = {}
        self._senders: list[Sender] = []
        for i, traffic in enumerate(plan.traffic()):
            name = traffic.target or MAIN_TARGET
            sender = Sender(plan, run, spool, i, self._pools.get(name))
            self._pools[name] = sender.pool
            self._senders.append(sender)

    def __getitem__(self, traffic: int) -> Sender:
        return self._senders[traffic]

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
