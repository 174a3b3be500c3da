"""One turn of the store over DATA/runs: what is new is loaded, what is over is closed."""

import logging
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import duckdb

from storage.column_spool import ColumnSegment
from storage.database import Database, first_line
from storage.finalise import finalise, is_settled, refresh_summary
from storage.ingest import ingest
from storage.kept import MOST_BYTES, checkpoint, kept_bytes, restore, spools_with_kept
from storage.mirror import Mirror
from storage.protocol import StoreError
from storage.records import TERMINAL
from storage.retention import finish_deletions, is_there
from storage.segments import list_segments

LEAST_FREE_BYTES = 1 << 30
"""Ten minutes of spooling at 50,000 events/s, and a checkpoint.  Of a disk below 10 GiB a tenth: a
tenth of any disk would forbid to measure on one of 4 TB with 300 GB free."""
_SEGMENTS_PER_TURN = 64  # a long backlog of one run does not starve the others
_LOAD_EVERY_S = 2.0  # a transaction costs 30 ms of CPU however small; the Live page needs none
_LOAD_MUCH_EVERY_S = 0.5  # where much waits that share is small: 5 % of a core in all at 50,000/s
_MUCH_BYTES = 512 << 10  # about 16,000 events
_SUMMARY_EVERY_S = 5.0  # for the list of runs; exact at the end
_PATIENCE_S = 2.0  # after trouble
_LOOK_BACK_EVERY_S = 10.0
_log = logging.getLogger("headway.store")


@dataclass(slots=True)
class _Followed:
    """A run that is not closed yet."""

    mirror: Mirror
    loaded_at_s: float = 0.0
    is_summary_old: bool = False
    summed_at_s: float = 0.0
    resume_at_s: float = 0.0
    trouble: str = ""


class Intake:
    """Follows every run's folder; one thread calls it."""

    def __init__(self, database: Database, data: Path) -> None:
        self._database = database
        self._data = data
        self._runs = data / "runs"
        self._followed: dict[str, _Followed] = {}
        self._closed: set[str] = set()
        self._generation = -1  # of the database, whose rows the above goes by
        self._look_back_at_s = 0.0
        self._is_checkpoint_due = False
        self._disk_trouble = ""
        self._orphans: list[int] = []  # run_ids: over, not final, and without a folder
        self._may_close = True  # one run a turn: each costs seconds where it is long

    @property
    def trouble(self) -> str:
        """Why something cannot be loaded now, as a sentence for the user; empty if nothing is."""
        told = [self._disk_trouble, *(run.trouble for run in list(self._followed.values()))]
        return next(filter(None, told), "")

    def turn(self) -> bool:
        """Take in what came since the last turn; True if there was something, or more must come."""
        self._disk_trouble = full_disk(self._data)
        if self._disk_trouble:
            return True
        if self._generation != self._database.generation:
            self._begin_anew()
        self._discover()
        self._may_close = True
        is_busy = any([self._try_to_follow(run) for run in list(self._followed.values())])
        is_busy |= self._close_orphan()
        if self._is_checkpoint_due:
            with self._database.writing, self._database.cursor() as cursor:
                self._is_checkpoint_due = not checkpoint(cursor, self._runs)
        return is_busy

    def _begin_anew(self) -> None:
        """After an opening: rows that were committed may be gone with a damaged log."""
        generation = self._database.generation
        with self._database.writing, self._database.cursor() as cursor:
            finish_deletions(cursor, self._data)
            n_back = restore(cursor, self._runs)
            rows = cursor.execute("SELECT run_uid::VARCHAR FROM runs WHERE is_final").fetchall()
            left_open = cursor.execute(_LEFT_OPEN).fetchall()
        if n_back:
            _log.warning("%d loaded segments are not in the database: loaded again", n_back)
        self._closed = {uid for (uid,) in rows}
        self._orphans = [n for n, uid in left_open if not (self._runs / uid / "plan.json").exists()]
        self._followed.clear()
        self._look_back_at_s = 0.0
        self._is_checkpoint_due = bool(spools_with_kept(self._runs))
        self._generation = generation

    def _discover(self) -> None:
        """Folders not seen before, oldest first: `last` means the newest run."""
        if not self._runs.is_dir():
            return
        with_late_segments = self._look_back()
        found = [
            folder
            for folder in self._runs.iterdir()
            if folder.name not in self._followed
            and (folder.name not in self._closed or folder.name in with_late_segments)
            and is_uid(folder.name)
            and (folder / "plan.json").exists()
        ]
        for folder in sorted(found, key=lambda f: (f / "plan.json").stat().st_mtime_ns):
            self._followed[folder.name] = _Followed(Mirror(folder))

    def _look_back(self) -> set[str]:
        """Closed runs into whose spool something came all the same (a decoder started again)."""
        now_s = time.monotonic()
        if now_s < self._look_back_at_s:
            return set()
        self._look_back_at_s = now_s + _LOOK_BACK_EVERY_S
        return {uid for uid in self._closed if list_segments(self._runs / uid / "spool")}

    def _try_to_follow(self, run: _Followed) -> bool:
        now_s = time.monotonic()
        if now_s < run.resume_at_s:
            return True
        try:
            with self._database.writing, self._database.cursor() as cursor:
                is_busy = self._follow(cursor, run)
            run.trouble = ""
            return is_busy
        except Exception as error:  # the one edge: whatever a folder holds, the others go on
            self._tell(run, error)
            run.resume_at_s = now_s + _PATIENCE_S
            # Trouble that may pass keeps the store alive; a folder with odd files does not.
            return isinstance(error, (StoreError, duckdb.OperationalError, OSError))

    @staticmethod
    def _tell(run: _Followed, error: Exception) -> None:
        is_foreseen = isinstance(error, (StoreError, duckdb.Error, OSError, ValueError))
        why = str(error) if isinstance(error, StoreError) else first_line(error)
        if not is_foreseen:
            why = f"its files are not as expected ({type(error).__name__}: {why}); see store.log."
        sentence = f"Run {run.mirror.run_uid} is not loaded at present: {why}"
        if sentence != run.trouble:
            _log.error(sentence, exc_info=None if is_foreseen else error)
        run.trouble = sentence

    def _follow(self, cursor: duckdb.DuckDBPyConnection, run: _Followed) -> bool:
        mirror, spool = run.mirror, run.mirror.folder / "spool"
        is_changed = mirror.refresh(cursor)
        if not mirror.run_id:
            return is_changed
        if not mirror.folder.exists() and not is_there(cursor, mirror.run_id):  # it was deleted
            del self._followed[mirror.run_uid]
            return False
        segments = list_segments(spool)
        if segments and (mirror.is_terminal or _is_due(run, segments)):
            run.loaded_at_s = time.monotonic()
            run.is_summary_old |= ingest(cursor, mirror, segments[:_SEGMENTS_PER_TURN]) > 0
            self._is_checkpoint_due |= self._keeps_much()
        self._refresh_summary(cursor, run)
        if not mirror.is_terminal:
            return is_changed or bool(segments)
        if self._may_close and is_settled(spool, mirror.columns["n_workers"]):
            self._may_close = False
            finalise(cursor, mirror.run_id)
            self._is_checkpoint_due = True
            self._closed.add(mirror.run_uid)
            del self._followed[mirror.run_uid]
        return True

    def _close_orphan(self) -> bool:
        """Close a run of which the tables alone are left, and which a new schema has reopened."""
        if not self._orphans or not self._may_close:
            return bool(self._orphans)
        run_id = self._orphans.pop()
        try:
            with self._database.writing, self._database.cursor() as cursor:
                finalise(cursor, run_id)
        except (StoreError, duckdb.Error) as error:  # after the next start it is tried again
            _log.error("run %d cannot be closed: %s", run_id, first_line(error))
        self._is_checkpoint_due = True
        return True

    def _keeps_much(self) -> bool:
        spools = [run.mirror.folder / "spool" for run in self._followed.values()]
        return kept_bytes(spools) > MOST_BYTES

    def _refresh_summary(self, cursor: duckdb.DuckDBPyConnection, run: _Followed) -> None:
        now_s = time.monotonic()
        if run.is_summary_old and now_s > run.summed_at_s + _SUMMARY_EVERY_S:
            refresh_summary(cursor, run.mirror.run_id)
            run.is_summary_old, run.summed_at_s = False, now_s


def _is_due(run: _Followed, segments: list[ColumnSegment]) -> bool:
    waited_s = time.monotonic() - run.loaded_at_s
    if waited_s > _LOAD_EVERY_S or waited_s < _LOAD_MUCH_EVERY_S:
        return waited_s > _LOAD_EVERY_S
    return sum(segment.path.stat().st_size for segment in segments) >= _MUCH_BYTES


_LEFT_OPEN = f"""
    SELECT run_id, run_uid::VARCHAR FROM runs
    WHERE NOT is_final AND state IN {tuple(sorted(TERMINAL))} ORDER BY run_id"""


def full_disk(data: Path) -> str:
    """Why nothing may be loaded, as a sentence; empty if there is room."""
    free, needed = shutil.disk_usage(data).free, least_free_bytes(data)
    if free >= needed:
        return ""
    return (
        f"Only {free >> 20} MiB are free on the disk of {data}; the store loads nothing "
        f"until there are {needed >> 20}.  What was measured waits in its folder.  `headway db "
        "drop-raw` and `headway db vacuum` make room."
    )


def least_free_bytes(data: Path) -> int:
    """Below this nothing is loaded."""
    return min(LEAST_FREE_BYTES, shutil.disk_usage(data).total // 10)


def is_uid(name: str) -> bool:
    """Whether a folder of this name may be a run."""
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False
