"""Kernel arrival stamps: SO_TIMESTAMPING on a socket, and what recvmsg says beside the bytes.

The kernel notes CLOCK_REALTIME when a segment comes in, however late we read it; measured p99
13 µs from the truth where the read times of the same bytes were off by 0.7 to 7 ms.
Source: kernel Documentation/networking/timestamping.rst; docs/adr/0002-stamps-and-raw-spool.md.
"""

import select
import socket
import struct
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

SO_TIMESTAMPING = 37
SOFTWARE_RECEIVE = (1 << 3) | (1 << 4)  # SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE
ANCILLARY_BYTES = 64  # CMSG_SPACE of three timespecs
TIMESPEC = struct.Struct("qq")
MAX_DELAY_NS = 60_000_000_000  # beyond this the realtime clock was set in between
NO_STAMP = -1
SWITCHED_ON_S = 0.1
"""The kernel's work queue takes a millisecond, on a busy machine some more."""


def enable(sock: Any) -> bool:
    """Ask for stamps; before connect, so that no byte comes first.  False: none on this platform.

    sock: a socket of the socket or the _socket module.
    """
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, SOFTWARE_RECEIVE)
    except OSError:
        return False
    return True


def delay_ns(ancillary: Sequence[tuple[int, int, bytes]], read_realtime_ns: int) -> int:
    """How long the bytes had been there when they were read; -1 if no stamp tells.

    A stamp of 0 and one later than its read (the clock was set in between) tell nothing.
    The hot path in stream.py holds a copy of these lines; this is its oracle.
    """
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING:
            seconds, nanoseconds = TIMESPEC.unpack_from(content)
            delay = read_realtime_ns - seconds * 1_000_000_000 - nanoseconds
            return delay if 0 <= delay < MAX_DELAY_NS else NO_STAMP
    return NO_STAMP


def arrival_ns(mono_ns: int, delay: int) -> int:
    """The arrival on the monotonic line; the read time itself where there is no stamp."""
    return mono_ns - delay if delay != NO_STAMP else mono_ns


class StampKeeper:
    """A socket that wants stamps for as long as it lives.

    The kernel stamps packets only while some socket asks, and switches it on from a work queue;
    without a keeper the first bytes of the first connection would come without a stamp.
    """

    def __init__(self) -> None:
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        enable(self._sock)

    def close(self) -> None:
        """Ask no longer."""
        self._sock.close()


@contextmanager
def kept_stamps() -> Generator[None]:
    """The kernel stamps what comes from here on, where it can: a keeper's wish takes a moment.

    Else the first answer of all, which tells who stamps the whole run, may come without.
    """
    keeper = StampKeeper()
    try:
        has_kernel_stamps(SWITCHED_ON_S)
        yield
    finally:
        keeper.close()


def has_kernel_stamps(patience_s: float = 0.5) -> bool:
    """Whether bytes sent over loopback come with a stamp; tried for `patience_s`."""
    with ExitStack() as stack:
        try:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            if not enable(listener):
                return False
            sender = stack.enter_context(socket.create_connection(listener.getsockname()))
            receiver = stack.enter_context(listener.accept()[0])
            enable(receiver)
            give_up_ns = time.monotonic_ns() + round(patience_s * 1e9)
            while time.monotonic_ns() < give_up_ns:
                sender.send(b"?")
                select.select([receiver], [], [], patience_s)
                _, ancillary, _, _ = receiver.recvmsg(16, ANCILLARY_BYTES)
                if delay_ns(ancillary, time.time_ns()) != NO_STAMP:
                    return True
        except OSError:
            return False
    return False
