"""The wall clock is set during a run: kernel stamps are of it, our line is monotonic."""

from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.arrival import CLOCK_STEP_NS, ArrivalClock
from loadgen.transport.stamps import MAX_DELAY_NS, TIMESPEC

MS, S = 1_000_000, 1_000_000_000
EPOCH_NS = 1_800_000_000 * S
STEPS = st.one_of(
    st.just(0),
    st.integers(-2 * CLOCK_STEP_NS, 2 * CLOCK_STEP_NS),
    st.integers(-7200 * S, 7200 * S),
)


def read_all(steps):
    """(true arrival, read, idle since, claimed arrival, bound or 0) of a read each 20 ms.

    The wall clock is set by each step between the kernel's stamp of a read and that read.
    """
    clock = ArrivalClock(0, 0)
    wall_ns, found = EPOCH_NS, []
    for k, step_ns in enumerate(steps, 1):
        true_ns, since_ns, mono_ns = k * 20 * MS, (k * 20 - 5) * MS, k * 20 * MS + 100_000
        seconds, ns = TIMESPEC.unpack(TIMESPEC.pack(*divmod(wall_ns + true_ns, S)))
        wall_ns += step_ns
        delay_ns = wall_ns + mono_ns - seconds * S - ns
        clock.read(mono_ns, delay_ns, since_ns, 100)
        bound_us = clock.bound_us if clock.lag_us < 0 else 0
        found.append((true_ns // 1000, mono_ns // 1000, clock.t_us, bound_us))
    return found, clock.n_missing


@given(st.lists(STEPS, max_size=20))
@example([3600 * S])
@example([-3600 * S, 0, 3600 * S])
def test_no_step_turns_time_back_or_puts_an_arrival_after_its_read(steps):
    found, _ = read_all(steps)
    claimed = [t_us for _, _, t_us, _ in found]
    assert claimed == sorted(claimed)
    assert all(t_us <= mono_us for _, mono_us, t_us, _ in found)


@given(st.lists(STEPS, max_size=20))
def test_a_step_harms_one_read_at_most_and_that_one_says_so_or_is_off_by_little(steps):
    found, n_missing = read_all(steps)
    for (true_us, mono_us, t_us, bound_us), step_ns in zip(found, steps, strict=True):
        if not step_ns:
            assert (t_us, bound_us) == (true_us, 0)
        elif bound_us:
            assert t_us == mono_us
            assert t_us - bound_us <= true_us
        else:  # too small a step for the poll or the read to contradict it
            assert -CLOCK_STEP_NS - 5 * MS <= (t_us - true_us) * 1000 <= 100_000
    assert n_missing == sum(not -100_000 <= step <= CLOCK_STEP_NS + 5 * MS for step in steps)


def test_a_stamp_that_is_a_minute_old_counts_as_missing():
    clock = ArrivalClock(0, 0)
    clock.read(100 * S, MAX_DELAY_NS, -1, 10)
    assert (clock.lag_us, clock.n_missing, clock.t_us) == (-1, 1, 100_000_000)
    clock.read(200 * S, MAX_DELAY_NS - 1, -1, 10)
    assert clock.n_missing == 1
