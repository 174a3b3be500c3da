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
AWAY_NS = 100_000
"""A loop that polls again so soon need not look: whatever waits is no older than that."""


class Polls:
    """The polls of one loop, told by a watcher before and one after each.

    poll_ns: for the reads of this turn, as in storage.raw_record.  late_ns: a read after this comes
    so long after the poll that its bytes may have piled up meanwhile.  turn: counts polls.
    """

    __slots__ = ("_clock", "_is_waiting", "_seen_ns", "late_ns", "poll_ns", "turn")

    def __init__(
        self,
        is_waiting: Callable[[int, int], Any],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """is_waiting(0, 1): whether a poll would find something now, as select.epoll.poll."""
        self._is_waiting, self._clock = is_waiting, clock
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
        self.polls = Polls(_always if self._epoll is None else self._epoll.poll)
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


def _always(_timeout_s: int, _max_events: int) -> bool:
    return True
