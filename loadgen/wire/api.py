"""What an endpoint API is to the rest: a request body to send, and the meaning of each event."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from loadgen.wire.framing import Framing, WireEvent

if TYPE_CHECKING:  # the decoder process needs no plan, hence no pydantic
    from loadgen.schedule import PlannedRequest

Kind = Literal[
    "content",
    "reasoning",
    "refusal",
    "tool",
    "role",
    "empty",
    "usage",
    "finish",
    "done",
    "error",
    "ping",
]
"""The first four carry tokens (storage.records.KINDS); the others are counted, never tokens."""


class UsageCount(NamedTuple):
    """Token counts as the server tells them; None where it does not.

    reasoning_tokens are part of output_tokens, cached_tokens part of prompt_tokens.
    """

    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Delta(NamedTuple):
    """What one event says about one choice (a tuple: it is made once per event, see `make bench`).

    text_len: characters of text, arguments included.  n_tokens: model tokens in this chunk where
    the event itself lists them, 0 = unknown.  usage: counts so far, on the event's last delta.
    """

    kind: Kind
    text_len: int = 0
    n_tokens: int = 0
    choice: int = 0
    usage: UsageCount | None = None
    finish_reason: str | None = None
    response_id: str | None = None
    error: str | None = None  # the server's own sentence
    error_code: int | str | None = None


class Api(Protocol):
    """One endpoint API, no i/o.  A new one is a file here and a line in registry.py."""

    @property
    def name(self) -> str:
        """As in plans and in APIS."""
        ...

    @property
    def path(self) -> str:
        """Appended to a root URL: /v1/…"""
        ...

    @property
    def framing(self) -> Callable[[], Framing]:
        """Makes the decoder of one answer's body."""
        ...

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The JSON to send; `extra` overrides our fields, its None removes one."""
        ...

    def decode(self, event: WireEvent) -> list[Delta]:
        """What `event` means, one delta per choice; raises ProtocolError on nonsense."""
        ...
