"""Levels in which a load worker was lost: they have less load than their name says."""

from typing import Any


def less_load(facts: dict[str, Any], level: int) -> list[str]:
    """A sentence for each worker that was lost in the level; facts: what run.json learned.

    Source: loadgen.machines.missing, which counted what was the worker's to do.
    """
    lost: list[dict[str, Any]] = (facts.get("machines") or {}).get("lost") or []
    return [
        f"Less load than its name says: {row['share']:.0%} of it is missing from "
        f"{row['into_s']:.1f} s on, when load worker {row['worker']} {row['how']}."
        for row in lost
        if row["stage"] == level
    ]
