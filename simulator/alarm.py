"""An alarm clock on CLOCK_MONOTONIC for an asyncio loop, exact to some 50 µs.

asyncio's own timers are rounded up to whole milliseconds where epoll waits for them; a timerfd is a
file descriptor and is not.  Python has it from 3.13 on; before that it is asked of libc.
"""

import asyncio
import ctypes
import os
import struct
import sys
from collections.abc import Callable

_NS_PER_S = 1_000_000_000
_CLOCK_MONOTONIC = 1
_TFD_NONBLOCK_CLOEXEC = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
_TFD_TIMER_ABSTIME = 1


class Alarm:
    """Calls `ring` once after each `set`; a later `set` replaces an earlier one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._handle: asyncio.Handle | None = None
        self._libc: ctypes.CDLL | None = None
        self._fd = -1
        self._is_armed = False
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._fd = self._libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._fd >= 0:
            loop.add_reader(self._fd, self._on_timer)

    def set(self, due_ns: int) -> None:
        """Ring at `due_ns` of CLOCK_MONOTONIC, or in the loop's next turn if that is past."""
        self.clear()
        if due_ns <= self._now_ns():
            self._handle = self._loop.call_soon(self._ring)
        elif self._fd >= 0:
            self._arm(due_ns)
            self._is_armed = True
        else:
            self._handle = self._loop.call_at(due_ns / _NS_PER_S, self._ring)

    def clear(self) -> None:
        """Do not ring."""
        if self._is_armed:
            self._arm(0)
            self._is_armed = False
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def close(self) -> None:
        """Give the descriptor back."""
        self.clear()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _now_ns(self) -> int:
        return int(self._loop.time() * _NS_PER_S)

    def _arm(self, due_ns: int) -> None:
        """Set the timerfd; 0 disarms it."""
        assert self._libc is not None
        once = struct.pack("@llll", 0, 0, *divmod(due_ns, _NS_PER_S))
        if self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, once, None) != 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def _on_timer(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # set anew between the loop's poll and this call
        self._is_armed = False
        self._ring()
