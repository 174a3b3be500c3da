"""A trace as a load: its window, speed, scale and grid become due times and rows.  Pure.

The steps in their order, each with a random stream of its own: rows on a grid are spread over its
step, or not; the window is cut; rows are dropped (scale below 1) or repeated (above 1); the speed
divides the times; what lies behind the stage's end is cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgen.plan_stages import Replay
from loadgen.replay_record import Grid, ReplayRecord, notes_of
from loadgen.traces.blocks import Blocks
from loadgen.traces.grid import grid_step_s, room_after, spread
from loadgen.traces.trace import NONE, Trace, TraceError

MOST_REQUESTS = 10_000_000
_MOST_NS = 1e18  # 30 years; int64 ends at 292
_SPREAD_STREAM, _SCALE_STREAM, _JITTER_STREAM = 1, 2, 3  # they follow after the seed

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Replayed:
    """The requests of a replay in the order they are due; columns as in Trace, one entry each.

    due_ns: from the stage's begin, which is the window's begin; never decreasing.
    row: the trace's row; copy: 0, or which repetition of its row this is.
    """

    due_ns: _Ints
    row: _Ints
    copy: _Ints
    prompt_tokens: _Ints
    output_tokens: _Ints
    prefix_ids: Blocks | None
    prefix_group: _Ints | None
    session: _Ints | None
    text: list[str] | None
    record: ReplayRecord
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.due_ns)


@dataclass(frozen=True, slots=True)
class _Sent:
    """Which rows are sent when, in order.  at_s: trace seconds from the window's begin."""

    at_s: _Floats
    row: _Ints
    copy: _Ints


def replayed(trace: Trace, replay: Replay, seed: int | Sequence[int]) -> Replayed:
    """The requests that `replay` makes of `trace`; raises TraceError if none is left or too many.

    The same trace, replay and seed give the same result.  How often a row is sent, and where in a
    grid's step, does not depend on the window.
    """
    step_s = grid_step_s(trace.t_s)
    grid: Grid = "none" if step_s is None else replay.grid
    t_s = trace.t_s
    if step_s is not None and grid == "spread":
        t_s = spread(t_s, step_s, _uniform(seed, _SPREAD_STREAM, len(trace)))
    rows = _window(trace, t_s, replay)
    copies = _copies(len(trace), replay.scale, seed)[rows]
    n = int(copies.sum())
    _check_number(trace, replay, n)
    jitter = _uniform(seed, _JITTER_STREAM, n) * (grid != "verbatim")
    sent = _sent(t_s, rows, copies, jitter, replay)
    due_ns = _until_end(trace, sent.at_s, replay)
    record = ReplayRecord(
        format=trace.format,
        rows=len(trace),
        in_window=len(rows),
        dropped=int((copies == 0).sum()),
        repeated=int((sent.copy[: len(due_ns)] > 0).sum()),
        cut=n - len(due_ns),
        requests=len(due_ns),
        grid=grid,
        grid_step_s=step_s,
        lasts_s=float(due_ns[-1]) / 1e9,
    )
    return _columns(trace, sent, due_ns, record, notes_of(trace, replay, record))


def _uniform(seed: int | Sequence[int], stream: int, n: int) -> _Floats:
    """`n` numbers from 0 to 1 that depend on the seed and on what they are for."""
    seeds = [seed] if isinstance(seed, int) else [*seed]
    return np.random.default_rng([*seeds, stream]).random(n)


def _window(trace: Trace, t_s: _Floats, replay: Replay) -> _Ints:
    """Rows with from_s <= t < to_s; raises TraceError if there is none."""
    end_s = np.inf if replay.to_s is None else replay.to_s
    first, last = np.searchsorted(t_s, [replay.from_s, end_s], side="left")
    if first == last:
        raise TraceError(
            f"{trace.source}: the window from {replay.from_s:g} to {end_s:g} s holds no request; "
            f"the trace lasts {trace.lasts_s:g} s."
        )
    return np.arange(first, last)


def _copies(n_rows: int, scale: float, seed: int | Sequence[int]) -> _Ints:
    """How often each row is sent: `scale` rounded down, or by chance up; its mean is `scale`."""
    whole = int(scale)
    return whole + (_uniform(seed, _SCALE_STREAM, n_rows) < scale - whole).astype(np.int64)


def _check_number(trace: Trace, replay: Replay, n_requests: int) -> None:
    if n_requests > MOST_REQUESTS:
        raise TraceError(
            f"{trace.source}: scale {replay.scale:g} makes {n_requests:,} requests of the window's "
            f"rows; expected at most {MOST_REQUESTS:,}."
        )
    if n_requests == 0:
        raise TraceError(
            f"{trace.source}: scale {replay.scale:g} dropped every row of the window; expected a "
            "larger scale or window."
        )


def _sent(t_s: _Floats, rows: _Ints, copies: _Ints, jitter: _Floats, replay: Replay) -> _Sent:
    """Each row as often as it has copies; later copies by `jitter` (0 to 1) of the room after it.

    The room is the time to the next later row or the window's end, after the last row the mean gap.
    """
    mean_gap_s = float(t_s[-1] - t_s[0]) / max(len(t_s) - 1, 1)
    room_s = room_after(t_s, mean_gap_s)[rows]
    if replay.to_s is not None:
        room_s = np.minimum(room_s, replay.to_s - t_s[rows])
    row = np.repeat(rows, copies)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    at_s = t_s[row] + (copy > 0) * jitter * np.repeat(room_s, copies) - replay.from_s
    order = np.argsort(at_s, kind="stable")
    return _Sent(at_s[order], row[order], copy[order])


def _until_end(trace: Trace, at_s: _Floats, replay: Replay) -> _Ints:
    """Due times at the replay's speed, as many as the stage's seconds and requests allow."""
    due_ns = np.rint(at_s * 1e9 / replay.speed)
    n = len(due_ns) if replay.requests is None else min(replay.requests, len(due_ns))
    if replay.seconds is not None:
        n = min(n, int(np.searchsorted(due_ns, replay.seconds * 1e9, side="left")))
    if n == 0:
        raise TraceError(
            f"{trace.source}: the first request of the window is due after {due_ns[0] / 1e9:g} s; "
            f"expected one within the stage's {replay.seconds:g} s."
        )
    if due_ns[n - 1] > _MOST_NS:
        raise TraceError(
            f"{trace.source}: at speed {replay.speed:g} the replay lasts {due_ns[n - 1] / 1e9:.3g} "
            "s; expected a higher speed."
        )
    return due_ns[:n].astype(np.int64)


def _columns(
    trace: Trace, sent: _Sent, due_ns: _Ints, record: ReplayRecord, notes: tuple[str, ...]
) -> Replayed:
    row, copy = sent.row[: len(due_ns)], sent.copy[: len(due_ns)]
    return Replayed(
        due_ns=due_ns,
        row=row,
        copy=copy,
        prompt_tokens=trace.prompt_tokens[row],
        output_tokens=trace.output_tokens[row],
        prefix_ids=None if trace.prefix_ids is None else _own_blocks(trace.prefix_ids, row, copy),
        prefix_group=None if trace.prefix_group is None else trace.prefix_group[row],
        session=None if trace.session is None else _own_sessions(trace.session, row, copy),
        text=None if trace.text is None else [trace.text[i] for i in row.tolist()],
        record=record,
        notes=notes,
    )


def _own_blocks(blocks: Blocks, row: _Ints, copy: _Ints) -> Blocks:
    """The rows' blocks; those of a row's second copy are another world's, shared only there.

    Were they the same, a repeated prompt would be in the server's cache as a whole, and scale would
    change how much of the trace can be cached.
    """
    taken = blocks.take(row)
    n_blocks = int(blocks.ids.max()) + 1 if len(blocks.ids) else 0
    return Blocks(taken.ids + np.repeat(copy, np.diff(taken.offsets)) * n_blocks, taken.offsets)


def _own_sessions(session: _Ints, row: _Ints, copy: _Ints) -> _Ints:
    """The rows' sessions; a second copy belongs to another user, who has copies of all turns."""
    taken = session[row]
    return np.where(taken == NONE, NONE, taken + copy * (int(session.max()) + 1))
