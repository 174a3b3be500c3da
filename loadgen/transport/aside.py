"""Work that must not hold up the event loop, done one job after the other in a system thread."""

import _queue  # gevent replaces queue.SimpleQueue
from collections.abc import Callable
from typing import Any

from gevent import monkey


class NativeThread:
    """Call it with a job; the job runs later, in order.  Jobs handle their own errors.

    Neither a gevent.threadpool, whose spawn() waits for a free thread and so may not be called
    from a loop callback, nor threading.Thread, which gevent turns into a greenlet.
    """

    def __init__(self) -> None:
        self._jobs: Any = _queue.SimpleQueue()
        start: Any = monkey.get_original("_thread", "start_new_thread")
        start(self._run, ())

    def __call__(self, job: Callable[[], None]) -> None:
        """Hand over a job; returns at once."""
        self._jobs.put(job)

    def _run(self) -> None:
        while True:
            self._jobs.get()()
