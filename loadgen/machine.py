"""What the leader needs of Locust, as a protocol: so that it runs without."""

from typing import Any, Protocol

from gevent.queue import Queue

from loadgen.machines.switchboard import Switchboard


class Machine(Protocol):
    """What Locust does for the leader: processes that hold users, and messages to and from them."""

    inbox: "Queue[tuple[str, dict[str, Any]]]"
    port: int
    switchboard: Switchboard

    def ready(self) -> int:
        """Workers that have reported."""
        ...

    def users(self, n: int) -> None:
        """Have exactly n users over all workers."""
        ...

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message to every worker."""
        ...

    def strangers(self) -> list[str]:
        """Sentences on whoever was turned away at the port."""
        ...
