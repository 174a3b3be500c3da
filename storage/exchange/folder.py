"""A foreign run as a folder of DATA/runs, which the store takes in as any other.

It is written aside and renamed: a killed import leaves nothing, or a whole run.
"""

import contextlib
import os
import shutil
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from storage.column_spool import column_path, decoded_mark, write_columns
from storage.exchange.answers import ForeignLevel, ForeignRun
from storage.exchange.rows import LevelRows, level_rows
from storage.records import StageRow

ASIDE = "importing"  # beside `runs`: nobody looks for runs here
NAMESPACE = uuid.UUID("5a1d9f0e-6f4b-5c55-9d2e-7b8f3c0a4e61")
NO_TIME_LINE = "Each request's times count from its own send."


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a run comes from.  title: the tool's name in sentences; sha256: of what was read."""

    title: str
    file: str
    sha256: str


def uid_of(run: ForeignRun, origin: Origin) -> str:
    """The run's identity: the same file content is the same run, whatever the file is called."""
    return str(uuid.uuid5(NAMESPACE, f"{run.tool} {origin.sha256}"))


def write_run(run: ForeignRun, origin: Origin, data: Path) -> tuple[str, bool]:
    """(run_uid, whether it is new here).  Raises OSError, and leaves nothing then."""
    uid = uid_of(run, origin)
    target = data / "runs" / uid
    if target.exists():
        return uid, False
    _tidy(data / ASIDE)
    aside = data / ASIDE / f"{uid}.{os.getpid()}"
    try:
        _fill(aside, run, origin, uid)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.rename(target)
        except OSError:
            if not target.exists():
                raise
            return uid, False  # another import of the same file was faster
        return uid, True
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        with contextlib.suppress(OSError):
            aside.parent.rmdir()


def _tidy(folder: Path) -> None:
    """Remove what killed imports have left."""
    for left in folder.glob("*.*") if folder.is_dir() else ():
        pid = left.name.rpartition(".")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _fill(folder: Path, run: ForeignRun, origin: Origin, uid: str) -> None:
    spool = folder / "spool"
    spool.mkdir(parents=True)
    stages: list[StageRow] = []
    first_id = n_backwards = 0
    for stage, level in enumerate(run.levels):
        rows = level_rows(level.answers, stage, first_id, uid)
        write_columns(column_path(spool, 0, stage), rows.tokens, rows.requests, [])
        stages.append(_stage(stage, level, rows))
        first_id += len(level.answers)
        n_backwards += rows.n_backwards
    decoded_mark(spool, 0).touch()
    lines = b"".join(orjson.dumps(asdict(row)) + b"\n" for row in stages)
    (folder / "stages.jsonl").write_bytes(lines)
    _write(folder / "run.json", _run_json(run, origin, n_backwards))
    _write(folder / "status.json", _status(run, origin, stages) | {"run_uid": uid})
    _write(folder / "plan.json", _plan(run, origin))


def _stage(stage: int, level: ForeignLevel, rows: LevelRows) -> StageRow:
    return StageRow(
        stage=stage,
        name=level.name,
        kind="open" if level.kind == "open" else "closed",
        concurrency=level.concurrency,
        rate_per_s=level.rate_per_s,
        begin_us=rows.begin_us,
        issue_end_us=rows.issue_end_us,
        end_us=rows.end_us,
        asked=stage,
    )


def _plan(run: ForeignRun, origin: Origin) -> dict[str, Any]:
    """What the file tells of the set-up: no plan of ours, and none that could be run again."""
    return {
        "name": run.name,
        "imported": {"tool": run.tool, "version": run.version, **asdict(origin)},
        "target": {"url": _bare(run.url), "model": run.model},
        "stages": [
            {
                "name": level.name,
                "kind": level.kind,
                "concurrency": level.concurrency,
                "rate_per_s": level.rate_per_s,
            }
            for level in run.levels
        ],
    }


def _bare(url: str | None) -> str | None:
    """The address without a user's name and password, and without a query: keys stand there."""
    if url is None:
        return None
    scheme, slashes, rest = url.split("?")[0].rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


def _run_json(run: ForeignRun, origin: Origin, n_backwards: int) -> dict[str, Any]:
    has_times = any(level.answers.has_times for level in run.levels)
    notes = [*run.notes]
    if n_backwards:
        notes.append(f"Of {n_backwards:,} requests the file's times run backwards: left out.")
    lacks = [*run.lacks]
    if not has_times and any(len(level.answers) for level in run.levels):
        lacks.append(NO_TIME_LINE)
    return {
        "name": run.name,
        "source": run.tool,
        "epoch_ns": _ns(run.started_epoch_s),
        "n_workers": 1,
        "notes": [*lacks, *notes],
        "imported": {
            "tool": run.tool,
            "version": run.version,
            **asdict(origin),
            "lacks": lacks,
            "notes": notes,
            "has_times": has_times,
            "has_chunks": any(level.answers.has_chunks for level in run.levels),
            "reported": [level.reported for level in run.levels],
            "reported_of_run": run.reported,
            "duration_s": [level.duration_s for level in run.levels],
        },
    }


def _status(run: ForeignRun, origin: Origin, stages: list[StageRow]) -> dict[str, Any]:
    version = f" {run.version}" if run.version else ""
    status: dict[str, Any] = {
        "state": "finished",
        "message": f"Imported from {origin.file} ({origin.title}{version}).",
        "n_stages": len(stages),
    }
    if run.started_epoch_s is not None:
        end_us = max((row.end_us or 0 for row in stages), default=0)
        status["updated_at"] = run.started_epoch_s + end_us / 1e6
    return status


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
