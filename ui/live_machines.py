"""Which machines take part in a run, where load workers of others have joined it."""

from typing import Any

from ui.plain import DASH, number

Json = dict[str, Any]


def machine_rows(machines: Json | None) -> list[dict[str, str]]:
    """One row per remote load worker.  machines: run.json's key; None for a run of one machine."""
    lost = {row["worker"]: row for row in (machines or {}).get("lost", [])}
    return [
        {
            "Machine": _name(row),
            "Load worker": str(row["worker"]),
            "Clock known within": _error(row),
            "State": _lost(lost[row["worker"]]) if row["worker"] in lost else "takes part",
        }
        for row in (machines or {}).get("workers", [])
    ]


def _name(row: Json) -> str:
    host, address = row.get("host") or DASH, row.get("address") or ""
    return host if address in ("", host) else f"{host} ({address})"


def _error(row: Json) -> str:
    error_ns = row.get("error_ns")
    return DASH if error_ns is None else f"± {number(error_ns / 1e6)} ms"


def _lost(row: Json) -> str:
    return f"{row['how']}, {row['into_s']:.0f} s into {row['level']}"
