"""The kernel's own round-trip time of a connection: TCP_INFO, tcpi_rtt, where there is one."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import statistics
import struct
import sys
from collections.abc import Iterable
from itertools import islice

# struct tcp_info (linux/tcp.h): eight bytes of flags, then 32-bit numbers; tcpi_rtt is the 16th.
_RTT_AT_BYTES = 8 + 15 * 4
_U32 = struct.Struct("=I")
SAMPLE = 8


def rtt_us(sock: _socket.socket) -> int | None:
    """The smoothed round-trip time in µs; None: not measured yet, or not on this platform."""
    if sys.platform != "linux":
        return None
    try:
        told = sock.getsockopt(_socket.IPPROTO_TCP, _socket.TCP_INFO, _RTT_AT_BYTES + _U32.size)
    except OSError:
        return None
    if len(told) < _RTT_AT_BYTES + _U32.size:
        return None
    return _U32.unpack_from(told, _RTT_AT_BYTES)[0] or None


def median_rtt_us(socks: Iterable[_socket.socket]) -> int | None:
    """The lower median over the first eight of these; None if none of them knows."""
    known = [rtt for sock in islice(socks, SAMPLE) if (rtt := rtt_us(sock)) is not None]
    return statistics.median_low(known) if known else None
