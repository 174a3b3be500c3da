"""Windows that a reader moved: which part of a level its numbers come from."""

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of
from storage.owner import Owner
from storage.protocol import StoreError

Cursor = duckdb.DuckDBPyConnection
SHORTEST_US = 1_000


def windows(cursor: Cursor, run: str) -> pa.Table:
    """Levels whose window a reader moved: stage, w0_us, w1_us.  The others' are automatic."""
    return frame(
        cursor,
        "SELECT stage, w0_us, w1_us FROM windows WHERE run_id = $run_id ORDER BY stage",
        run_id=run_id_of(cursor, run),
    )


def set_window(owner: Owner, run: str, stage: int, w0_us: int, w1_us: int) -> pa.Table:
    """Let a level's numbers come from [w0_us, w1_us) of the run's time line; answers `windows`.

    Raises StoreError where the window is empty, lies outside the level, or the level is not there.
    """
    with owner.database.writing, owner.database.cursor() as cursor:
        known = {"run_id": run_id_of(cursor, run), "stage": int(stage)}
        _refuse_odd(cursor, known, int(w0_us), int(w1_us))
        cursor.begin()
        cursor.execute(_FORGET, known)
        cursor.execute(
            "INSERT INTO windows BY NAME SELECT $run_id AS run_id, $stage AS stage, "
            "$w0 AS w0_us, $w1 AS w1_us",
            known | {"w0": int(w0_us), "w1": int(w1_us)},
        )
        cursor.commit()
        return windows(cursor, run)


def reset_window(owner: Owner, run: str, stage: int) -> pa.Table:
    """Let the level's window be the one found automatically again; answers `windows`."""
    with owner.database.writing, owner.database.cursor() as cursor:
        cursor.execute(_FORGET, {"run_id": run_id_of(cursor, run), "stage": int(stage)})
        return windows(cursor, run)


_FORGET = "DELETE FROM windows WHERE run_id = $run_id AND stage = $stage"


def _refuse_odd(cursor: Cursor, level: dict[str, int], w0_us: int, w1_us: int) -> None:
    if w1_us - w0_us < SHORTEST_US:
        raise StoreError(
            f"A window from {w0_us:,} to {w1_us:,} µs is empty; expected a begin before its end."
        )
    found = cursor.execute(
        """
        SELECT begin_us, greatest(coalesce(end_us, 0), coalesce(issue_end_us, 0),
            coalesce((SELECT max(end_us) FROM requests
                      WHERE run_id = $run_id AND stage = $stage), 0))
        FROM stages WHERE run_id = $run_id AND stage = $stage""",
        level,
    ).fetchone()
    if found is None:
        raise StoreError(f"The run has no level {level['stage']}; its levels are counted from 0.")
    begin_us, end_us = found
    if w0_us >= end_us or w1_us <= begin_us:
        raise StoreError(
            f"A window from {w0_us:,} to {w1_us:,} µs lies outside the level, which lasted from "
            f"{begin_us:,} to {end_us:,} µs."
        )
