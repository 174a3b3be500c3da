"""What the pool is asked to do, what it answers, and where it puts what it reads."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from storage.raw_record import SpoolError

Cause = Literal[
    "done",
    "eof",
    "reset",
    "timeout",
    "cancelled",
    "connect_failed",
    "tls_failed",
    "not_sent",
    "malformed",
]

DONE_LINE = re.compile(rb"[\r\n]data: ?\[DONE\][\r\n]")
"""What OpenAI's API, and whatever speaks it, ends a stream with."""


class Spool(Protocol):
    """storage.raw_spool.RawWriter, or one in memory; raises SpoolError when it is full."""

    def open(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep what the request was meant to be."""
        ...

    def read(self, request_id: int, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """Keep one read."""
        ...

    def close(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep how the request ended."""
        ...

    def tick(self, now_ns: int) -> None:
        """Called ten times a second."""
        ...


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits in seconds: opening a connection, nothing but comments arriving, the whole request."""

    connect_s: float
    silence_s: float
    total_s: float


class Call(NamedTuple):
    """One request as bytes; meta: the OPEN record's fields but send_ns.

    done_line: found in the last line of a stream that is over though its connection may stay open;
    None: the API has no such line.
    """

    request_id: int
    head_and_body: bytes
    meta: dict[str, Any]
    done_line: re.Pattern[bytes] | None = DONE_LINE


class Done(NamedTuple):
    """How a request ended.  `done`: by the rules of HTTP, or by Call.done_line; detail: a sentence.

    An answer of 404 is `done` too.  send_ns None: it was never begun.
    """

    cause: Cause
    send_ns: int | None
    end_ns: int
    http_status: int | None
    detail: str | None


OnDone = Callable[[Done | SpoolError], None]
"""Told how a request ended; a SpoolError: nothing can be recorded any more."""
