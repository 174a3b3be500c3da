"""Be called at an absolute instant of the monotonic clock.

libev's own timers are as coarse as epoll's milliseconds; a timerfd fires within some 50 µs.
Platforms without one fall back to libev's, and the send lag says so.
"""

import ctypes
import os
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from gevent import get_hub

_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_ABSTIME = 1
_READ = 1  # libev's event mask
_ITIMERSPEC = struct.Struct("qqqq")  # no interval; seconds and ns
_DISARMED = _ITIMERSPEC.pack(0, 0, 0, 0)


class Alarm:
    """Calls `on_time` in the loop once for each set(), before the reads of that turn.

    The timerfd's watcher is started once and for all, for each start would be a system call; so
    would be a read of what expired, for which a new time serves too.
    """

    def __init__(self, on_time: Callable[[], None]) -> None:
        self._on_time = on_time
        self._is_set = False
        self._loop: Any = get_hub().loop
        self._fd = -1
        self._watcher: Any = None
        if sys.platform == "linux":
            libc = ctypes.CDLL(None, use_errno=True)
            self._settime = libc.timerfd_settime
            self._fd = libc.timerfd_create(time.CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)
        if self._fd >= 0:
            self._watcher = self._loop.io(self._fd, _READ)
            self._watcher.priority = self._loop.MAXPRI - 1  # PollWatch comes first
            self._watcher.start(self._ring)

    def set(self, due_ns: int) -> None:
        """Call then, in the loop's next turn if that is past; what was set before is forgotten."""
        self._is_set = True
        if self._fd >= 0:
            due_ns = max(1, due_ns)  # 0 would disarm it
            when = _ITIMERSPEC.pack(0, 0, due_ns // 1_000_000_000, due_ns % 1_000_000_000)
            self._settime(self._fd, _ABSTIME, when, None)
            return
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = self._loop.timer(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
        self._watcher.start(self._ring, update=True)

    def close(self) -> None:
        """Call no more."""
        self._is_set = False
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _ring(self) -> None:
        if self._is_set:
            self._is_set = False
            self._on_time()
        if not self._is_set and self._fd >= 0:
            self._settime(self._fd, _ABSTIME, _DISARMED, None)
