"""Did a read hold one segment only?  Then all its bytes arrived at its stamp, however late we read.

The kernel counts the segments with data that a connection received (TCP_INFO, tcpi_data_segs_in,
Linux 4.6).  As each read holds at least one of them, as many segments as reads since a count means
one for each.  Asked only of reads that look like several events: it costs 2 µs.
"""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import fcntl
import struct
import sys
import termios
from typing import Any

_DATA_SEGS_IN_AT_BYTES = 152  # struct tcp_info, linux/tcp.h
_U32 = struct.Struct("=I")
_SIZE = _DATA_SEGS_IN_AT_BYTES + _U32.size
UNKNOWN = -1


def segments_in(sock: Any) -> int:
    """Segments with data received so far (modulo 2^32); -1 where the platform does not tell."""
    if sys.platform != "linux":
        return UNKNOWN
    try:
        told = sock.getsockopt(_socket.IPPROTO_TCP, _socket.TCP_INFO, _SIZE)
    except OSError:
        return UNKNOWN
    return _U32.unpack_from(told, _DATA_SEGS_IN_AT_BYTES)[0] if len(told) == _SIZE else UNKNOWN


class Segments:
    """Reads of one connection counted against its segments.

    `reads` is counted up by the hot path; `lose_count` when a read may have left a part of a
    segment, or was not counted.
    """

    __slots__ = ("_base", "_sock", "reads")

    def __init__(self, sock: Any = None) -> None:
        self._sock = sock
        self._base = UNKNOWN if sock is None else segments_in(sock)
        self.reads = 0

    def begin(self) -> None:
        """A request is about to be sent, so that nothing of an answer can be under way."""
        if self.reads or self._base < 0:  # else the last read was the latest segment
            self._base = segments_in(self._sock)
            self.reads = 0

    def lose_count(self) -> None:
        """Reads and segments no longer go one to one."""
        self._base = UNKNOWN

    def is_one(self) -> bool:
        """Whether the read just made held one segment; False where that cannot be proved.

        Segments that came after the read are counted too, and then nothing is proved.
        """
        if self._sock is None:
            return False
        now = segments_in(self._sock)
        is_proved = self._base >= 0 and now >= 0 and (now - self._base) % 2**32 == self.reads
        # Count anew from here, if all that was counted has been read.
        self._base = now if is_proved or not _waiting_bytes(self._sock) else UNKNOWN
        self.reads = 0
        return is_proved


def _waiting_bytes(sock: Any) -> int:
    """Bytes received and not yet read; 1 where nobody tells."""
    try:
        return _U32.unpack(fcntl.ioctl(sock.fileno(), termios.FIONREAD, bytes(_U32.size)))[0]
    except OSError:
        return 1
