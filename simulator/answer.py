"""What the answers of all APIs are made of: counts, times, and the events of a stream."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson

from simulator.sequence import Sequence

Kind = Literal["content", "reasoning"]

FAILED = "EngineCore encountered an issue. (x_sim_fault asked for it.)"
MARK = "\x00"  # stands for the text in an event that is built once and cut in two there
_MARK_JSON = rb"\u0000"


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What all events of one answer share."""

    answer_id: str
    created_s: int
    model: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one answer, or of what was sent of it so far."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int


@dataclass(frozen=True, slots=True)
class Times:
    """Where the time of a finished request went, in the engine's ns; arrival to last token."""

    queue_ns: int  # until the first step that worked on it
    prefill_ns: int  # from there until the first token
    decode_ns: int  # from there until the last one

    @property
    def total_ns(self) -> int:
        """From the request's arrival to its last token."""
        return self.queue_ns + self.prefill_ns + self.decode_ns


def times_of(sequences: Iterable[Sequence]) -> Times:
    """The times of a request, or of several inputs that belong together: first to last."""
    arrivals, admitted, first, last = zip(
        *(
            (s.arrival_ns, s.admitted_ns or 0, s.first_token_ns or 0, s.last_token_ns or 0)
            for s in sequences
        ),
        strict=True,
    )
    return Times(
        queue_ns=min(admitted) - min(arrivals),
        prefill_ns=max(first) - min(admitted),
        decode_ns=max(last) - max(first),
    )


class Finish(NamedTuple):
    """What can be told once all tokens are there."""

    usage: Usage
    times: Times


class Burst(NamedTuple):
    """The tokens of one event; `usage` counts them, too."""

    kind: Kind
    text: bytes
    n_tokens: int
    position: int  # of the first one in the endless text; see text.py
    usage: Usage


class StreamEvents:
    """The events of one streamed answer, as bytes; here those of an API that has only tokens.

    `fixed`: per kind what stands before and after the text of a token event, if that is the same
    for all of them, so that an event costs one concatenation.  Else None, and `tokens` is asked.
    The text needs no JSON escapes.
    """

    fixed: Mapping[Kind, tuple[bytes, bytes]] | None = None
    is_one_by_one = False  # one event for each token, even where a step yields several
    garbage = b'data: {"id":"garbage","choices":[{"index":0,"del\n\n'

    def hello(self) -> bytes | None:
        """What comes at once, while the request may still wait."""
        return None

    def begin(self, usage: Usage) -> bytes | None:
        """What comes just before the first token."""
        return None

    def turn(self, kind: Kind) -> bytes | None:
        """What comes before the first token of each kind."""
        return None

    def tokens(self, burst: Burst) -> bytes:
        """A token event, where `fixed` is None."""
        raise AssertionError("an API without fixed parts has its own")

    def end(self, finish: Finish) -> list[bytes]:
        """What comes after the last token."""
        return []

    def failed(self) -> list[bytes]:
        """How an answer ends whose engine failed."""
        return []


def sse(document: Any, name: str | None = None) -> bytes:
    """`document` as a server-sent event, with a name where the API gives one."""
    head = b"event: " + name.encode() + b"\n" if name else b""
    return head + b"data: " + orjson.dumps(document) + b"\n\n"


def around_mark(event: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the MARK in `event`."""
    before, after = event.rsplit(_MARK_JSON, 1)
    return before, after
