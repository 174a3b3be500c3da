"""Where one event ends and the next begins: what a framing (SSE today) gives to an API."""

from typing import NamedTuple, Protocol

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""A longer line or event is a ProtocolError: a server must not be able to fill our memory."""


class ProtocolError(Exception):
    """The endpoint broke the protocol; the text says what was seen and what was expected."""


class WireEvent(NamedTuple):
    """One event of a stream: `name` ("message" unless the server names it) and its payload."""

    name: str
    data: bytes


class Framing(Protocol):
    """Cuts a byte stream into events; any cut of the stream into reads gives the same events."""

    comments: int
    idle: bool  # nothing of an unfinished event or line is held back

    def feed(self, data: bytes) -> list[WireEvent]:
        """The events that `data` completes; raises ProtocolError beyond MAX_EVENT_BYTES."""
        ...

    def end(self) -> list[WireEvent]:
        """What the end of the stream completes."""
        ...
