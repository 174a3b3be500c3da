"""The files of a run's folder as rows: plan.json, run.json, status.json, stages.jsonl.

They are the truth while a run goes on; the tables follow them within a turn of the store.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import duckdb
import orjson

from storage.database import rollback
from storage.records import TERMINAL
from storage.rows import insert_rows

FACTS = ("targets", "machines", "search", "prompts", "cache", "replay", "limits", "imported")
"""Keys of run.json that travel together as one JSON column, `runs.facts`."""
_FILES = ("plan.json", "run.json", "status.json", "stages.jsonl")
Row = dict[str, Any]


class Mirror:
    """One run's folder and what of it the tables hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_uid = folder.name
        self.run_id = 0  # 0 until the run is in the tables
        self.columns: Row = {}
        self.stages: list[Row] = []
        self.is_final = False
        self._signature: tuple[object, ...] = ()

    @property
    def is_terminal(self) -> bool:
        """Whether the load generator has said that the run is over."""
        return self.columns.get("state") in TERMINAL

    def refresh(self, cursor: duckdb.DuckDBPyConnection) -> bool:
        """Bring the tables up to the files; True if a file has changed since the last call."""
        signature = tuple(_signature(self.folder / name) for name in _FILES)
        if signature == self._signature:
            return False
        plan = _read(self.folder / "plan.json")
        if plan is None:
            return False  # the launcher has just made the folder
        created_ns = (self.folder / "plan.json").stat().st_mtime_ns
        columns = run_columns(plan, _parsed(self.folder / "run.json"), self._status())
        stages = stage_rows(_read(self.folder / "stages.jsonl") or b"")
        # status.json changes twice a second: only what the tables hold is worth a transaction.
        if (columns, stages) != (self.columns, self.stages) or not self.run_id:
            self._write(cursor, columns, stages, created_ns)
        self._signature = signature
        return True

    def _status(self) -> Row | None:
        return _parsed(self.folder / "status.json")

    def _write(
        self, cursor: duckdb.DuckDBPyConnection, columns: Row, stages: list[Row], created_ns: int
    ) -> None:
        cursor.begin()
        try:
            self.run_id, self.is_final = _find_or_add(cursor, self.run_uid, created_ns, columns)
            assigned = ", ".join(f"{name} = ${name}" for name in columns)
            cursor.execute(
                f"UPDATE runs SET {assigned} WHERE run_id = $run_id",
                {**columns, "run_id": self.run_id},
            )
            if stages != self.stages:
                cursor.execute("DELETE FROM stages WHERE run_id = $r", {"r": self.run_id})
                insert_rows(cursor, "stages", self.run_id, stages)
            cursor.commit()
        except BaseException:
            rollback(cursor)
            raise
        self.columns, self.stages = columns, stages


def run_columns(plan_json: bytes, run: Row | None, status: Row | None) -> Row:
    """Columns of `runs` that the files tell; None for what they do not tell (yet).

    Raises ValueError if plan.json is not the JSON of a plan.
    """
    plan, run, status = _object(plan_json, "plan.json"), run or {}, status or {}
    target: Mapping[str, Any] = plan.get("target") or {}
    state = status.get("state", "queued")
    ended_s = status.get("updated_at") if state in TERMINAL else None
    return {
        "name": run.get("name") or plan.get("name") or "run",
        "state": state,
        "message": status.get("message"),
        "epoch_ns": run.get("epoch_ns"),
        "ended_epoch_ns": None if ended_s is None else round(ended_s * 1e9),
        "t0_mono_ns": run.get("t0_mono_ns"),
        "url": target.get("url"),
        "target_url": run.get("target_url"),
        "model": target.get("model"),
        "api": target.get("api"),
        "plan": plan_json.decode(),
        "plan_sha256": hashlib.sha256(plan_json).hexdigest(),
        "n_stages": len(plan.get("stages") or []),
        "planned_s": status.get("planned_s"),
        "n_workers": run.get("n_workers"),
        "host": run.get("host"),
        "cpu_count": run.get("cpu_count"),
        "stamps": run.get("stamps"),
        "versions": _json(run.get("versions")),
        "preflight": _json(run.get("preflight")),
        "self_test": _json(run.get("self_test")),
        "dropped_fields": _json(run.get("dropped_fields") or None),
        "http": run.get("http"),
        "insecure": run.get("insecure"),
        "proxy": run.get("proxy"),
        "notes": _json(run.get("notes") or None),
        "source": run.get("source"),
        "facts": _json({name: run[name] for name in FACTS if run.get(name)} or None),
    }


def stage_rows(lines: bytes) -> list[Row]:
    """Rows of `stages`: the last whole line of each stage wins; a line being written waits."""
    last: dict[int, Row] = {}
    for line in lines[: lines.rfind(b"\n") + 1].splitlines():
        if line.strip():
            row = orjson.loads(line)
            load = {"load": _json(row["load"])} if row.get("load") else {}
            last[row["stage"]] = row | load
    return [last[stage] for stage in sorted(last)]


def _find_or_add(
    cursor: duckdb.DuckDBPyConnection, run_uid: str, created_ns: int, columns: Row
) -> tuple[int, bool]:
    found = cursor.execute(
        "SELECT run_id, is_final FROM runs WHERE run_uid = $uid::UUID", {"uid": run_uid}
    ).fetchall()
    if found:
        return found[0]
    needed = ("name", "state", "plan", "plan_sha256", "n_stages")
    added = cursor.execute(
        "INSERT INTO runs (run_uid, created_epoch_ns, name, state, plan, plan_sha256, n_stages) "
        "VALUES ($uid::UUID, $created, $name, $state, $plan, $plan_sha256, $n_stages) "
        "RETURNING run_id",
        {"uid": run_uid, "created": created_ns, **{name: columns[name] for name in needed}},
    ).fetchall()
    return added[0][0], False


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _parsed(path: Path) -> Row | None:
    raw = _read(path)
    return None if raw is None else _object(raw, path.name)


def _object(raw: bytes, name: str) -> Row:
    value = orjson.loads(raw)
    if not isinstance(value, dict):
        raise ValueError(f"{name} holds no JSON object but {str(value)[:40]!r}.")
    return cast(Row, value)


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
