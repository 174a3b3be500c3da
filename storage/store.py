"""The one process that owns a data folder's database: `python -m storage.store DATA`.

Clients start it when needed (storage.client); it loads what runs write, answers questions, and ends
a minute after its last client has gone.  Why a process of its own: docs/adr/0003-store-process.md.
"""

import argparse
import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from storage.copies import remove_leftovers
from storage.database import Database, first_line
from storage.intake import Intake
from storage.lock import Lock, make_folder, take
from storage.protocol import StoreError
from storage.server import Server

TURN_EVERY_S = 0.3
IDLE_S = 60.0
NICENESS = 10  # the load generator comes first
_log = logging.getLogger("headway.store")


def main(argv: list[str] | None = None) -> int:
    """0: ended because nobody needs it, or another process owns the folder; 1: it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m storage.store", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument(
        "--idle-s", type=float, default=IDLE_S, help="end so long after the last client"
    )
    parser.add_argument("--ready-fd", type=int, help="write `ready`, `held` or a sentence here")
    args = parser.parse_args(argv)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    os.nice(NICENESS)
    os.umask(0o077)
    try:
        return own(args.data.absolute(), args.idle_s, args.ready_fd)
    except StoreError as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"The store cannot use the data folder {args.data.absolute()}: {error}."
    _log.error(sentence)
    _tell(args.ready_fd, sentence)
    return 1


def own(data: Path, idle_s: float, ready_fd: int | None) -> int:
    """Take the folder, open the database, serve until idle or told to stop."""
    make_folder(data)
    lock = take(data)
    if lock is None:
        _tell(ready_fd, "held")
        return 0
    try:
        remove_leftovers(data)
        with contextlib.closing(Database(data)) as database:
            _serve(_Store(data, database, lock), idle_s, ready_fd)
    finally:
        lock.release()
    return 0


class _Store:
    """What belongs together while the folder is ours."""

    def __init__(self, data: Path, database: Database, lock: Lock) -> None:
        self.data = data
        self.lock = lock
        self.database = database
        self.intake = Intake(database, data)
        self.server = Server(database, data, lock.socket, self.state)
        lock.tell()

    def state(self) -> dict[str, Any]:
        """Answer to the question `store`: one row.

        trouble: empty, or why nothing is loaded.  notes: what was mended, a line each.
        """
        return {
            "pid": os.getpid(),
            "data": str(self.data),
            "n_clients": self.server.n_clients,
            "free_bytes": shutil.disk_usage(self.data).free,
            "trouble": self.intake.trouble,
            "notes": "\n".join(self.database.notes),
        }


def _serve(store: _Store, idle_s: float, ready_fd: int | None) -> None:
    stop = threading.Event()

    def end(_number: int, _frame: object) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    _log.info("owns %s as process %d", store.data, os.getpid())
    _tell(ready_fd, "ready")
    needed_at_s = time.monotonic()
    while not stop.wait(TURN_EVERY_S) and store.lock.is_ours():
        is_busy = _turn(store)
        now_s = time.monotonic()
        if is_busy or store.server.n_clients:
            needed_at_s = now_s
        elif now_s - needed_at_s > idle_s:
            break
    store.server.close()
    _log.info("ends: %s", "told to" if stop.is_set() else "nobody needs it")


def _turn(store: _Store) -> bool:
    try:
        return store.intake.turn()
    except (StoreError, OSError) as error:  # the folder's disk: the next turn tries again
        _log.error("a turn failed: %s", first_line(error))
        return False


def _tell(ready_fd: int | None, word: str) -> None:
    """Say to the client that started us how it went; it may have gone."""
    if ready_fd is not None:
        with contextlib.suppress(OSError):
            os.write(ready_fd, word.encode())
            os.close(ready_fd)


if __name__ == "__main__":
    sys.exit(main())
