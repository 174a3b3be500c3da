"""What a run that is here already has lost since: a second import does not bring it back."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any


def day_of(at_ns: int) -> str:
    """The day of an instant of the wall clock, in UTC: `2026-01-31`."""
    return f"{datetime.fromtimestamp(at_ns / 1e9, tz=UTC):%Y-%m-%d}"


def removed_on(ask_arrow: Callable[..., Any], run: str) -> str | None:
    """The day on which the run's token events were removed; None if they were not.

    ask_arrow: a store's.  A run that the tables do not hold yet has lost nothing.
    """
    told = ask_arrow("run", run=run).to_pylist()
    at_ns = told[0]["raw_dropped_epoch_ns"] if told else None
    return None if at_ns is None else day_of(at_ns)


def removed_here(ask_arrow: Callable[..., Any], run: str) -> str:
    """That an import left such a run as it is, and the way to have it whole; else nothing."""
    day = removed_on(ask_arrow, run)
    if day is None:
        return ""
    return (
        f"Its token events were removed on {day}; `headway db delete {run}` first to import it "
        "again."
    )
