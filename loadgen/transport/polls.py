"""Since when the bytes of a read can have been there: what the polls of the loop tell.

The kernel's stamp is that of the LAST segment of a read, so what came before it in the same read is
only known to be younger than some instant at which it was not there.  docs/adr/0006-doubt.md.
"""

import os
import time
from collections.abc import Callable
from typing import Any

from gevent import monkey

from storage.raw_record import POLL_UNKNOWN

LATE_NS = 1_000_000
WAKE_NS = 100_000  # from a segment's stamp to the process being runnable, generously
AWAY_NS = 100_000
"""A loop that polls again so soon need not look: whatever waits is no older than that."""


class Polls:
    """The polls of one loop, told by a watcher before and one after each.

    poll_ns: for the reads of this turn, as in storage.raw_record.  late_ns: a read after this comes
    so long after the poll that its bytes may have piled up meanwhile.  turn: counts polls.
    """

    __slots__ = (
        "_clock",
        "_is_waiting",
        "_seen_ns",
        "_waited_before_ns",
        "_waited_ns",
        "_woke",
        "late_ns",
        "poll_ns",
        "turn",
    )

    def __init__(
        self,
        is_waiting: Callable[[int, int], Any],
        clock: Callable[[], int] = time.monotonic_ns,
        waited_ns: Callable[[], int | None] = lambda: None,
    ) -> None:
        """is_waiting(0, 1): whether a poll would find something now, as select.epoll.poll.

        waited_ns: how long this thread has waited for a core so far; None: nobody tells.
        """
        self._is_waiting, self._clock, self._waited_ns = is_waiting, clock, waited_ns
        self._waited_before_ns = waited_ns()
        self._woke = (-1, 0)  # turn, and what woke_ns answered in it
        self.poll_ns = POLL_UNKNOWN
        self.late_ns = self.turn = 0
        self._seen_ns = 1  # the latest instant by which a poll saw all that had arrived

    def before_poll(self) -> None:
        """The loop's callbacks are done, and now it polls."""
        now_ns, seen_ns = self._clock(), self._seen_ns
        self.turn += 1
        if now_ns - seen_ns <= AWAY_NS:
            self.poll_ns = seen_ns
        elif self._is_waiting(0, 1):
            self.poll_ns = -seen_ns
            self._seen_ns = now_ns  # what comes from here to the poll is seen too
        else:
            self.poll_ns = now_ns

    def after_poll(self) -> None:
        """The poll returned, and nothing was read yet."""
        if self.poll_ns > 0:
            self._seen_ns = now_ns = self._clock()
            self.late_ns = now_ns + LATE_NS

    def woke_ns(self) -> int:
        """For reads on time of an idle turn: nothing of them came before this, nor poll_ns.

        The poll slept until the first byte; then the process was runnable at once, and ran when it
        got a core.  How long it waited for one since this was asked before, the kernel tells: ask
        now and then, or the waits of all turns since are laid on this one.
        """
        if self._woke[0] != self.turn:
            before_ns, now_ns = self._waited_before_ns, self._waited_ns()
            self._waited_before_ns = now_ns
            woke_ns = self.poll_ns
            if before_ns is not None and now_ns is not None:
                ran_ns = self.late_ns - LATE_NS
                woke_ns = max(woke_ns, ran_ns - (now_ns - before_ns) - WAKE_NS)
            self._woke = (self.turn, woke_ns)
        return self._woke[1]

    def of_read(self, mono_ns: int) -> int:
        """`poll_ns` for a read of this turn at that time; stream.py holds a copy of these lines."""
        return self.poll_ns if mono_ns <= self.late_ns else -abs(self.poll_ns)


class PollWatch:
    """Tells a Polls about the polls of a gevent loop.

    A libev backend other than epoll is not looked into: then the loop always counts as busy.
    """

    def __init__(self, loop: Any) -> None:
        self._epoll: Any = None
        if loop.backend == "epoll":  # monkey.patch_all, which Locust calls, takes it from `select`
            epoll: Any = monkey.get_original("select", "epoll")
            self._epoll = epoll.fromfd(os.dup(loop.fileno()))  # it closes its descriptor at the end
        self._schedule = _open_schedule()
        is_waiting = _always if self._epoll is None else self._epoll.poll
        self.polls = Polls(is_waiting, waited_ns=self._waited_ns)
        # gevent runs its greenlets in a prepare watcher of its own; ours is the last.
        self._watchers = [loop.prepare(priority=loop.MINPRI), loop.check(priority=loop.MAXPRI)]
        self._watchers[0].start(self.polls.before_poll)
        self._watchers[1].start(self.polls.after_poll)

    def close(self) -> None:
        """Watch no longer."""
        for watcher in self._watchers:
            watcher.close()
        if self._epoll is not None:
            self._epoll.close()
        if self._schedule is not None:
            os.close(self._schedule)
            self._schedule = None

    def _waited_ns(self) -> int | None:
        if self._schedule is None:
            return None
        return int(os.pread(self._schedule, 99, 0).split()[1])  # on a core, waiting for one, slices


def _open_schedule() -> int | None:
    """This thread's scheduler statistics, where the kernel keeps them; 16 µs a reading."""
    try:
        return os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _always(_timeout_s: int, _max_events: int) -> bool:
    return True
