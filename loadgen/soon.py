"""Something to say that may change a thousand times at once: it is said once, a little later."""

from collections.abc import Callable
from typing import Any

import gevent


class Soon:
    """Calls `say` within_s after the first of the calls that come together."""

    def __init__(self, within_s: float, say: Callable[[], None]) -> None:
        self._within_s = within_s
        self._say = say
        self._waiting: Any = None

    def __call__(self) -> None:
        """Something has changed."""
        if self._waiting is None:
            self._waiting = gevent.spawn_later(self._within_s, self._now)

    def _now(self) -> None:
        self._waiting = None
        self._say()
