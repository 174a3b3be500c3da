"""A trace becomes a load: window, speed, scale and grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.plan_stages import Replay
from loadgen.replay import replayed
from loadgen.traces.blocks import blocks_of
from loadgen.traces.trace import NONE, Trace, TraceError

seeds = st.integers(0, 2**32 - 1)


def trace_of(t_s, **more):
    """Row i has i + 1 prompt tokens, so that a request tells its row."""
    n = len(t_s)
    return Trace(
        source="made.csv",
        format="csv",
        t_s=np.array(t_s, np.float64),
        prompt_tokens=np.arange(1, n + 1),
        output_tokens=np.arange(n) % 50 + 1,
        **more,
    )


def replay_of(**more):
    return Replay(file="made.csv", **more)


def random_trace(n, seed=1, **more):
    t_s = np.sort(np.random.default_rng(seed).uniform(0, n / 10, n))
    return trace_of(t_s - t_s[0], **more)


def gridded(n_steps=100, per_step=10, **more):
    return trace_of(np.repeat(np.arange(n_steps) * 3.0, per_step), **more)


@st.composite
def traces(draw):
    gaps = draw(st.lists(st.sampled_from([0.0, 0.001, 0.5, 1.0, 3.0, 71.3]), max_size=60))
    return trace_of(np.cumsum([0.0, *gaps]))


@st.composite
def replays(draw):
    from_s = draw(st.sampled_from([0.0, 0.0, 1.0, 10.5]))
    return replay_of(
        from_s=from_s,
        to_s=draw(st.none() | st.floats(from_s + 0.1, 1000)),
        speed=draw(st.sampled_from([0.1, 1, 7, 1000])),
        scale=draw(st.sampled_from([0.3, 1, 1.5, 2, 3.7])),
        grid=draw(st.sampled_from(["verbatim", "spread"])),
        seconds=draw(st.none() | st.floats(0.1, 100)),
        requests=draw(st.none() | st.integers(1, 30)),
    )


def made(trace, replay, seed):
    """The replay, or None where nothing is left of it."""
    try:
        return replayed(trace, replay, seed)
    except TraceError:
        return None


def test_a_plain_replay_sends_each_row_at_its_own_time():
    trace = trace_of([0.0, 0.0319601, 2.5])
    got = replayed(trace, replay_of(), 1)
    assert got.due_ns.tolist() == [0, 31_960_100, 2_500_000_000]
    assert got.due_ns.dtype == np.int64
    assert got.prompt_tokens.tolist() == trace.prompt_tokens.tolist()
    assert got.output_tokens.tolist() == trace.output_tokens.tolist()
    assert got.notes == ()
    assert (got.record.requests, got.record.grid, got.record.lasts_s) == (3, "none", 2.5)


@given(traces(), replays(), seeds)
def test_requests_are_in_order_within_window_and_end_and_all_accounted_for(trace, replay, seed):
    got = made(trace, replay, seed)
    if got is None:
        return
    assert (np.diff(got.due_ns) >= 0).all()
    assert got.due_ns[0] >= 0
    if replay.to_s is not None:
        assert got.due_ns[-1] <= (replay.to_s - replay.from_s) * 1e9 / replay.speed + 1
    if replay.seconds is not None:
        assert got.due_ns[-1] < replay.seconds * 1e9
    assert len(got) <= (replay.requests or len(got))
    record = got.record
    if not record.cut:
        first_copies = record.in_window - record.dropped
        assert record.requests == first_copies + record.repeated
    assert got.prompt_tokens.tolist() == (got.row + 1).tolist()


@given(traces(), replays(), seeds)
def test_the_same_seed_gives_the_same_replay(trace, replay, seed):
    first, second = made(trace, replay, seed), made(trace, replay, seed)
    if first is None or second is None:
        assert first is second
        return
    assert first.due_ns.tolist() == second.due_ns.tolist()
    assert first.row.tolist() == second.row.tolist()
    assert (first.record, first.notes) == (second.record, second.notes)


def test_another_seed_gives_another_choice_and_a_seed_may_have_parts():
    trace, replay = random_trace(500), replay_of(scale=0.5)
    rows = [replayed(trace, replay, seed).row.tolist() for seed in (1, 2, [1, 0], [1, 1])]
    assert len({tuple(kept) for kept in rows}) == 4


@given(traces(), st.floats(0.01, 1000), seeds)
def test_speed_divides_the_times_and_changes_nothing_else(trace, speed, seed):
    whole = replayed(trace, replay_of(scale=2), seed)
    fast = replayed(trace, replay_of(scale=2, speed=speed), seed)
    assert fast.row.tolist() == whole.row.tolist()
    assert np.abs(fast.due_ns - whole.due_ns / speed).max() <= 0.5 + 0.5 / speed + 1e-3


def test_speed_10_is_exact():
    trace = random_trace(300)
    got = replayed(trace, replay_of(speed=10), 1)
    assert got.due_ns.tolist() == [round(t * 1e9 / 10) for t in trace.t_s.tolist()]
    assert got.notes == ("All times were divided by the speed, 10.",)


@given(traces(), st.floats(0, 100), st.floats(0.1, 100))
def test_a_window_holds_the_rows_from_its_begin_to_before_its_end(trace, from_s, length_s):
    to_s = from_s + length_s
    inside = [i for i, t in enumerate(trace.t_s.tolist()) if from_s <= t < to_s]
    got = made(trace, replay_of(from_s=from_s, to_s=to_s), 1)
    assert (got.row.tolist() if got else []) == inside
    if got:
        assert got.due_ns.tolist() == [round((trace.t_s[i] - from_s) * 1e9) for i in inside]


def test_a_window_without_a_request_is_refused_with_the_trace_s_length():
    with pytest.raises(TraceError, match=r"made\.csv: the window from 100 to 200 s holds no req"):
        replayed(trace_of([0, 90]), replay_of(from_s=100, to_s=200), 1)
    with pytest.raises(TraceError, match=r"the trace lasts 90 s\."):
        replayed(trace_of([0, 90]), replay_of(from_s=1, to_s=2), 1)


@pytest.mark.parametrize("scale", [0.1, 0.5, 0.9, 1.5, 2.5])
def test_the_number_of_requests_is_the_scale_s_within_four_sigma(scale):
    n, chance = 20_000, scale % 1
    got = replayed(random_trace(n), replay_of(scale=scale), 3)
    assert abs(len(got) - scale * n) < 4 * (n * chance * (1 - chance)) ** 0.5


@given(traces(), st.floats(0.05, 0.95), seeds)
def test_thinning_keeps_times_and_order_and_each_row_once(trace, scale, seed):
    got = made(trace, replay_of(scale=scale), seed)
    if got is None:
        return
    assert (np.diff(got.row) > 0).all()
    assert got.due_ns.tolist() == [round(t * 1e9) for t in trace.t_s[got.row].tolist()]
    assert got.record.dropped == len(trace) - len(got)


@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), seeds)
def test_what_a_small_scale_keeps_a_larger_one_keeps_too(one, other, seed):
    trace = random_trace(300)
    low, high = (
        set(replayed(trace, replay_of(scale=scale), seed).row.tolist())
        for scale in sorted((one, other))
    )
    assert low <= high


def test_the_window_does_not_change_which_rows_are_kept():
    trace = random_trace(1000)
    whole = replayed(trace, replay_of(scale=0.3), 5)
    part = replayed(trace, replay_of(scale=0.3, from_s=20, to_s=50), 5)
    assert part.row.tolist() == [i for i in whole.row.tolist() if 20 <= trace.t_s[i] < 50]


def test_dropping_everything_is_refused():
    with pytest.raises(TraceError, match="scale 1e-09 dropped every row"):
        replayed(trace_of([0, 1]), replay_of(scale=1e-9), 1)


def test_repetition_sends_the_row_itself_and_copies_before_the_next_later_row():
    trace = trace_of([0, 2, 2, 7, 9])
    got = replayed(trace, replay_of(scale=3), 4)
    room_s = [2, 5, 5, 2, 9 / 4]
    for row, t_s in enumerate(trace.t_s):
        at_s = got.due_ns[got.row == row] / 1e9 - t_s
        copies = got.copy[got.row == row]
        assert at_s[copies == 0].tolist() == [0]
        assert sorted(copies.tolist()) == [0, 1, 2]
        assert (at_s[copies > 0] > 0).all()
        assert (at_s[copies > 0] < room_s[row]).all()
    assert len(set(got.due_ns.tolist())) == 14  # but for the two rows that came at once


def test_a_scale_beyond_what_can_be_held_is_refused_before_it_is_tried():
    with pytest.raises(TraceError, match="scale 1000 makes 20,000,000 requests"):
        replayed(random_trace(20_000), replay_of(scale=1000), 1)


def test_a_grid_kept_verbatim_keeps_its_bursts_and_says_so():
    got = replayed(gridded(), replay_of(scale=2.5), 1)
    assert set((got.due_ns % 3_000_000_000).tolist()) == {0}
    assert (got.record.grid, got.record.grid_step_s) == ("verbatim", 3.0)
    assert got.notes[0].startswith("The trace's times lie on a grid of 3 s and were kept")
    assert "each of 1000 rows was sent 2 times, and once more with probability 0.5" in (
        got.notes[1].lower()
    )
    assert "at their row's own time" in got.notes[1]


def test_a_grid_that_is_spread_fills_its_steps_in_the_rows_order_and_says_so():
    got = replayed(gridded(), replay_of(grid="spread"), 1)
    assert got.row.tolist() == list(range(1000))
    assert (got.due_ns // 3_000_000_000).tolist() == np.repeat(np.arange(100), 10).tolist()
    phase = got.due_ns % 3_000_000_000 / 3e9
    assert abs(phase.mean() - 0.5) < 4 * (1 / 12 / 1000) ** 0.5
    assert (got.record.grid, got.record.grid_step_s) == ("spread", 3.0)
    assert "spread over it at random" in got.notes[0]


def test_a_window_cuts_a_spread_trace_at_the_times_its_rows_are_sent():
    whole = replayed(gridded(), replay_of(grid="spread"), 1)
    part = replayed(gridded(), replay_of(grid="spread", from_s=31, to_s=62), 1)
    inside = (whole.due_ns >= 31e9) & (whole.due_ns < 62e9)
    assert part.row.tolist() == whole.row[inside].tolist()
    assert np.abs(part.due_ns + 31e9 - whole.due_ns[inside]).max() <= 1


def test_asking_to_spread_a_trace_without_grid_changes_no_time_and_says_so():
    trace = random_trace(200)
    got = replayed(trace, replay_of(grid="spread"), 1)
    assert got.due_ns.tolist() == replayed(trace, replay_of(), 1).due_ns.tolist()
    assert got.notes == ("The times lie on no grid, so grid = 'spread' changed none.",)


def test_columns_follow_their_rows():
    trace = trace_of(
        [0, 1, 2],
        prefix_ids=blocks_of([[0, 1], [], [0, 2]]),
        prefix_group=np.array([0, NONE, 1]),
        session=np.array([NONE, 0, 0]),
        text=["a", "", "c"],
        notes=("Read well.",),
    )
    got = replayed(trace, replay_of(from_s=1), 1)
    assert got.prefix_ids is not None
    assert got.prefix_group is not None
    assert got.session is not None
    assert [got.prefix_ids.of(i) for i in range(2)] == [(), (0, 2)]
    assert got.prefix_group.tolist() == [NONE, 1]
    assert got.session.tolist() == [0, 0]
    assert got.text == ["", "c"]
    assert got.notes == ("Read well.", "The window from 1 s to its end holds 2 of 3 rows.")


def test_copies_share_blocks_and_sessions_with_copies_of_the_same_number_only():
    trace = trace_of(
        np.arange(4) * 5.0,
        prefix_ids=blocks_of([[0, 1], [0, 2], [], [3]]),
        prefix_group=np.array([0, 0, 1, NONE]),
        session=np.array([0, 0, NONE, 1]),
        text=["a", "b", "c", "d"],
    )
    got = replayed(trace, replay_of(scale=2), 9)
    assert got.prefix_ids is not None
    assert got.prefix_group is not None
    assert got.session is not None
    blocks = {
        (r, c): got.prefix_ids.of(i)
        for i, (r, c) in enumerate(zip(got.row.tolist(), got.copy.tolist(), strict=True))
    }
    assert [blocks[row, 0] for row in range(4)] == [(0, 1), (0, 2), (), (3,)]
    assert [blocks[row, 1] for row in range(4)] == [(4, 5), (4, 6), (), (7,)]
    order = np.lexsort((got.copy, got.row))
    assert got.session[order].tolist() == [0, 2, 0, 2, NONE, NONE, 1, 3]
    assert got.prefix_group[order].tolist() == [0, 0, 0, 0, 1, 1, NONE, NONE]
    assert got.notes[-2:] == (
        "Copies have prefix blocks and conversations of their own.",
        "A copy of a row with a prompt sends that same prompt again.",
    )


def test_the_stage_s_seconds_are_real_ones_and_what_is_cut_is_counted():
    trace = trace_of(np.arange(100.0))
    got = replayed(trace, replay_of(speed=10, seconds=2), 1)
    assert len(got) == 20
    assert got.record.cut == 80
    assert got.notes[-1] == "80 requests lie behind the stage's end and are not sent."
    assert len(replayed(trace, replay_of(requests=7), 1)) == 7


def test_a_stage_that_ends_before_the_first_request_is_refused():
    with pytest.raises(TraceError, match=r"first request of the window is due after 50 s"):
        replayed(trace_of([0, 60]), replay_of(from_s=10, seconds=5), 1)


def test_a_speed_that_stretches_the_trace_over_decades_is_refused():
    with pytest.raises(TraceError, match="expected a higher speed"):
        replayed(trace_of([0, 1e6]), replay_of(speed=1e-6), 1)
