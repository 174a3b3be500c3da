"""Wake up at an absolute instant of the monotonic clock.

libev's own timers are as coarse as epoll's milliseconds; a timerfd fires within some 50 µs.
Platforms without one fall back to gevent.sleep, and the send lag says so.
"""

import ctypes
import os
import struct
import sys
import time

import gevent
from gevent import get_hub

_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_ABSTIME = 1
_READ = 1  # libev's event mask


class Alarm:
    """One timer for one greenlet at a time."""

    def __init__(self) -> None:
        self._fd = -1
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._fd = self._libc.timerfd_create(time.CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)
        self._watcher = get_hub().loop.io(self._fd, _READ) if self._fd >= 0 else None

    def wait_until(self, due_ns: int) -> None:
        """Sleep this greenlet until `due_ns` on the monotonic clock; at once if that is past."""
        left_ns = due_ns - time.monotonic_ns()
        if left_ns <= 0:
            return
        if self._watcher is None:
            gevent.sleep(left_ns / 1e9)
            return
        when = struct.pack("qqqq", 0, 0, due_ns // 1_000_000_000, due_ns % 1_000_000_000)
        self._libc.timerfd_settime(self._fd, _ABSTIME, when, None)
        get_hub().wait(self._watcher)
        os.read(self._fd, 8)

    def close(self) -> None:
        """Give the timer back."""
        if self._watcher is not None:
            self._watcher.close()
            os.close(self._fd)
            self._fd, self._watcher = -1, None
