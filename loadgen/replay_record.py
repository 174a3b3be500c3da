"""What was done to a trace to replay it: counts for the record, sentences for the reader."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from loadgen.plan_stages import Replay
from loadgen.traces.trace import Trace

Grid = Literal["none", "verbatim", "spread"]


@dataclass(frozen=True, slots=True)
class ReplayRecord:
    """Beside the load itself, which has speed, window and scale as asked.

    format: as found.  rows: of the trace.  in_window: of those, within the window.  dropped: of
    those, by a scale below 1.  repeated: requests that are a second or later copy of their row.
    cut: requests behind the stage's end.  grid_step_s: None without a grid.
    lasts_s: from the stage's begin to the last request due, at the replay's speed.
    """

    format: str
    rows: int
    in_window: int
    dropped: int
    repeated: int
    cut: int
    requests: int
    grid: Grid
    grid_step_s: float | None
    lasts_s: float


def told(record: ReplayRecord, notes: Sequence[str]) -> dict[str, Any]:
    """As a load worker tells it and run.json keeps it."""
    return {**asdict(record), "notes": list(notes)}


def with_replay(
    kept: list[dict[str, Any]] | None, stage: int, made: dict[str, Any]
) -> list[dict[str, Any]] | None:
    """The run's replays and one more; None if that level's is known (it was made ready anew)."""
    known = kept or []
    if any(one["stage"] == stage for one in known):
        return None
    return [*known, {"stage": stage, **made}]


def notes_of(trace: Trace, replay: Replay, record: ReplayRecord) -> tuple[str, ...]:
    """The trace's own notes, then one sentence for each thing that was changed."""
    notes = [*trace.notes]
    if record.in_window < record.rows:
        end = "its end" if replay.to_s is None else f"{replay.to_s:g} s"
        notes.append(
            f"The window from {replay.from_s:g} s to {end} holds {record.in_window} of "
            f"{record.rows} rows."
        )
    notes += [sentence for sentence in (_grid(replay, record), _scale(replay, record)) if sentence]
    if record.repeated and not (trace.prefix_ids is None and trace.session is None):
        notes.append("Copies have prefix blocks and conversations of their own.")
    if record.repeated and trace.text is not None:
        notes.append("A copy of a row with a prompt sends that same prompt again.")
    if replay.speed != 1:
        notes.append(f"All times were divided by the speed, {replay.speed:g}.")
    if record.cut:
        notes.append(f"{record.cut} requests lie behind the stage's end and are not sent.")
    return tuple(notes)


def _grid(replay: Replay, record: ReplayRecord) -> str | None:
    if record.grid_step_s is None:
        is_asked = replay.grid == "spread"
        return "The times lie on no grid, so grid = 'spread' changed none." if is_asked else None
    found = f"The trace's times lie on a grid of {record.grid_step_s:.4g} s"
    if record.grid == "spread":
        return f"{found}; each step's requests were spread over it at random."
    return f"{found} and were kept, so each step is a burst; grid = 'spread' would spread them."


def _scale(replay: Replay, record: ReplayRecord) -> str | None:
    whole = int(replay.scale)
    chance = replay.scale - whole
    if replay.scale == 1:
        return None
    if whole == 0:
        return (
            f"Each of {record.in_window} rows was kept with probability {chance:g}; "
            f"{record.dropped} were dropped."
        )
    more = f", and once more with probability {chance:.4g}" if chance else ""
    where = (
        "at their row's own time, which keeps the grid"
        if record.grid == "verbatim"
        else "at random between their row and the next"
    )
    return (
        f"Each of {record.in_window} rows was sent {whole} time{'s' * (whole > 1)}{more}; copies "
        f"came {where}."
    )
