"""What an endpoint API is to the rest: a request body to send, and the meaning of each event."""

import re
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

    def or_else(self, other: "UsageCount") -> "UsageCount":
        """These counts; each that is None from `other`."""
        return UsageCount(*(b if a is None else a for a, b in zip(self, other, strict=True)))


class ServerTimings(NamedTuple):
    """Where the server says that its time went, µs; None where it does not tell."""

    queue_us: int | None = None
    prefill_us: int | None = None
    decode_us: int | None = None

    def or_else(self, other: "ServerTimings") -> "ServerTimings":
        """These times; each that is None from `other`."""
        return ServerTimings(*(b if a is None else a for a, b in zip(self, other, strict=True)))


class Delta(NamedTuple):
    """What one event says about one choice (a tuple: it is made once per event, see `make bench`).

    text: a tool call's name and arguments included.  n_tokens: model tokens in this chunk where
    the event itself lists them, 0 = unknown.  usage: counts so far, on the event's last delta.
    """

    kind: Kind
    text: str = ""
    n_tokens: int = 0
    choice: int = 0
    usage: UsageCount | None = None
    finish_reason: str | None = None
    response_id: str | None = None
    error: str | None = None  # the server's own sentence
    error_code: int | str | None = None
    timings: ServerTimings | None = None


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
    def whole_path(self) -> str:
        """The same for an answer in one piece; mostly equal to `path`."""
        ...

    @property
    def is_streaming(self) -> bool:
        """False: the API knows answers in one piece only, as embeddings do."""
        ...

    @property
    def knows_ignore_eos(self) -> bool:
        """False: no server of this API can be told to go on to max_tokens; lengths will vary."""
        ...

    @property
    def done_line(self) -> re.Pattern[bytes] | None:
        """Found in the last bytes of a stream that is over though its connection stays open."""
        ...

    @property
    def framing(self) -> Callable[[], Framing]:
        """Makes the decoder of one answer's body."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Request headers of its own, and how the key travels ("" = there is none)."""
        ...

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The JSON to send; `extra` overrides our fields, its None removes one."""
        ...

    def decode(self, event: WireEvent) -> list[Delta]:
        """What `event` means, one delta per choice; raises ProtocolError on nonsense."""
        ...

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """An answer in one piece: its text as token events that have no time of their own, usage,
        finish, ids.  Raises ProtocolError if it is no answer of this API."""
        ...
