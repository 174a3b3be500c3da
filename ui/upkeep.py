"""What the dashboard does beside its pages: runs and processes agree, and the store is there."""

import logging
import os
import threading
import time
from importlib import import_module
from pathlib import Path

from loadgen.launch import reconcile, running
from storage.client import Store, StoreError
from ui.judged import judge_newest

EVERY_S = 2.0
RETAIN_EVERY_S = 3600.0
KEEP_RAW = "HEADWAY_KEEP_RAW"
"""`30d` or `50GB`: which token events are kept (docs/storage.md); unset, all of them."""
WARM_UP_AFTER_S = 8.0
log = logging.getLogger("headway")


def warm_up() -> None:
    """Import what the first Run page needs while nobody waits for it (scipy alone: 1.6 s)."""
    import_module("analysis.show")
    import_module("charts.registry")


class Upkeep:
    """Turns on one data folder; a trouble is logged when it begins and not at each turn."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._store: Store | None = None
        self._trouble = ""
        self._retain_at_s = 0.0

    def until(self, over: threading.Event) -> None:
        """A turn now and every EVERY_S, until `over`."""
        self.turn()
        if not over.wait(WARM_UP_AFTER_S):  # the first page comes first
            warm_up()
        while not over.is_set():
            self.turn()
            over.wait(EVERY_S)

    def turn(self) -> None:
        """Marks runs whose process died, keeps the store running, judges a run that is over.

        The store takes measurements in while they come, so that a run's page is there when the run
        ends; without a client it would end after a minute.
        """
        try:
            reconcile(self._data)
            self._store = self._store or Store.connect(self._data)
            self._store.ask("store")
            if not running(self._data):  # reading a run's events would disturb the one measured
                judge_newest(self._data, self._store.ask)
                self._retain(self._store)
        except StoreError as error:
            self._note(str(error))
        except Exception as error:
            # One damaged run folder must not leave all the others unattended for ever.
            self._note(f"Looking after the runs failed: {error!r}")
        else:
            self._trouble = ""

    def _retain(self, store: Store) -> None:
        """Once an hour: drop the token events that HEADWAY_KEEP_RAW does not keep."""
        now_s, text = time.monotonic(), os.environ.get(KEEP_RAW)
        if not text or now_s < self._retain_at_s:
            return
        self._retain_at_s = now_s + RETAIN_EVERY_S
        from analysis.retention import PolicyError, drop, policy, to_drop  # scipy

        try:
            kept = policy(text)
        except PolicyError as error:
            log.warning("%s: %s  All are kept.", KEEP_RAW, error)
            return
        gone = to_drop(store.ask("raw_sizes"), kept, time.time_ns())
        if len(gone):
            n_events = drop(store.ask, store.do, list(gone["run_uid"]))
            log.info(
                "%s=%s: dropped %d token events of %d runs", KEEP_RAW, text, n_events, len(gone)
            )

    def _note(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.warning("%s Trying again every %.0f s.", trouble, EVERY_S)
        self._trouble = trouble
