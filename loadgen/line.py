"""How a worker reaches the leader."""

from typing import Any, Protocol


class Line(Protocol):
    """Locust's message channel in a run, a list in tests."""

    def send(self, kind: str, content: dict[str, Any]) -> None:
        """Send one message."""
        ...
