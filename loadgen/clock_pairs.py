"""Was the wall clock set during a run?  Each process reads both clocks at its start and end.

Every time of a run is of the monotonic clock, which nobody can set.  A step of the other one can
spoil the few arrivals whose kernel stamp and read lie on both sides of it, and its time of day.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from loadgen.clocks import instant
from loadgen.run_folder import RunFolder

FILE = "clocks.jsonl"
WORTH_A_WORD_MS = 50.0  # NTP slews both clocks alike; what differs was set


@dataclass(frozen=True, slots=True)
class ClockPair:
    """The same instant on both clocks, ns.  who: `leader` or `worker 0`."""

    who: str
    mono_ns: int
    real_ns: int


def note_clocks(folder: RunFolder, who: str) -> None:
    """Append this process's two clocks to the run; at its start and at its end.

    A disk too full for a line must not spoil the end of a run: then the pair is missing.
    """
    mono_ns, real_ns = instant()
    with suppress(OSError):
        folder.append(FILE, {"who": who, "mono_ns": mono_ns, "real_ns": real_ns})


def clock_pairs(folder: RunFolder) -> list[ClockPair]:
    """Every pair noted so far, in order."""
    return [ClockPair(**row) for row in folder.read_rows(FILE)]


def clock_report(pairs: Iterable[ClockPair]) -> list[dict[str, Any]]:
    """Per process its first and last pair and how far the wall clock was set between, ms.

    step_ms None: it noted only one, because it was killed.
    """
    by_process: dict[str, list[ClockPair]] = {}
    for pair in pairs:
        by_process.setdefault(pair.who, []).append(pair)
    return [
        {
            "who": who,
            "start": [seen[0].mono_ns, seen[0].real_ns],
            "end": [seen[-1].mono_ns, seen[-1].real_ns] if len(seen) > 1 else None,
            "step_ms": step_ms(seen[0], seen[-1]) if len(seen) > 1 else None,
        }
        for who, seen in by_process.items()
    ]


def step_ms(start: ClockPair, end: ClockPair) -> float:
    """How much more the wall clock went on than the monotonic one; negative: it was set back."""
    return round(((end.real_ns - start.real_ns) - (end.mono_ns - start.mono_ns)) / 1e6, 3)


def step_sentence(report: list[dict[str, Any]]) -> str:
    """Empty unless the wall clock was set by more than is worth a word."""
    steps: list[float] = [row["step_ms"] for row in report if row["step_ms"] is not None]
    worst = max(steps, key=abs, default=0.0)
    if abs(worst) <= WORTH_A_WORD_MS:
        return ""
    return (
        f"This machine's wall clock was set by {worst:+,.0f} ms during the run; durations are of "
        "the monotonic clock and did not change, only arrivals at that very moment are in doubt."
    )


def keep_clocks(folder: RunFolder) -> list[str]:
    """At the leader's end all clocks into run.json; a sentence if the wall clock was set."""
    run = folder.read("run.json")
    if run is None:
        return []
    note_clocks(folder, "leader")
    run["clocks"] = clock_report(clock_pairs(folder))
    folder.write("run.json", run)
    said = step_sentence(run["clocks"])
    return [said] if said else []
