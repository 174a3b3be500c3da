"""One record of the raw spool: 40 bytes of header, the payload, padding to 8; little endian."""

import struct
from typing import NamedTuple

OPEN, READ, CLOSE, PULSE = 1, 2, 3, 4  # JSON, bytes of the HTTP stream, JSON, JSON
MARK = 0x48445759  # a record whose mark is 0 was never finished: the end
HEADER = struct.Struct("<B3xiIqqqI")  # kind request length mono delay poll mark, written in order

POLL_UNKNOWN = -1  # `poll_ns` of a read of which no poll tells anything


class SpoolError(RuntimeError):
    """The spool folder cannot take more: full disk, no permission, or the spool is sealed."""


class RawRecord(NamedTuple):
    """mono_ns: CLOCK_MONOTONIC right after the read; the bytes' arrival is mono_ns - delay_ns.

    delay_ns -1: no kernel stamp.  poll_ns: its size is an instant, and all the bytes arrived after
    it.  Positive: nothing waited on any socket then, and the loop polled again at once, so that it
    slept until the first byte.  Negative: it was busy, and bytes may have piled up ever since.
    Both are 0 for kinds other than READ.  docs/adr/0006-doubt.md.
    """

    kind: int
    request_id: int
    mono_ns: int
    delay_ns: int
    poll_ns: int
    payload: bytes
