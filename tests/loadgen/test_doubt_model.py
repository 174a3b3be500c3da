"""The doubt rule against a small model of kernel, loop and sockets whose true arrivals are known.

Segments arrive on streams; a loop does some work, polls, wakes up late, and reads what it was told,
each read taking a while.  True: the arrival of each segment; claimed: [stamp - bound, stamp].
"""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.arrival import LATE_US, ArrivalClock
from loadgen.transport.polls import AWAY_NS, Polls
from storage.raw_record import POLL_UNKNOWN

T0_NS = 10**9
LONGEST_PROBE_NS = 40_000
SOON = st.integers(0, LONGEST_PROBE_NS)
WORK = st.one_of(SOON, st.integers(0, 3_000_000), st.integers(0, 30_000_000))
GAP = st.one_of(SOON, st.integers(0, 2_000_000), st.integers(0, 25_000_000))


@dataclass(slots=True)
class Stream:
    """One socket with its segments' true arrivals, and what its reads claimed."""

    arrivals_ns: list[int]
    is_stamped: bool
    first_turn: int  # the loop starts to watch it after this many turns
    n_read: int = 0
    has_rest: bool = False
    since_turn: int = -1  # the turn whose poll is the first to know it
    claims: list[tuple[int, int, bool, bool]] = field(default_factory=list)
    clock: ArrivalClock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = ArrivalClock(T0_NS, T0_NS)

    def waits(self, now_ns: int) -> bool:
        return self.n_read < len(self.arrivals_ns) and self.arrivals_ns[self.n_read] <= now_ns

    def read(self, mono_ns: int, poll_ns: int, at_most: int) -> None:
        """One recvmsg: what has arrived by now, but no more segments than its buffer takes."""
        first = self.n_read
        there = sum(ns <= mono_ns for ns in self.arrivals_ns) - first
        self.n_read += min(there, at_most)
        self.has_rest = there >= at_most
        delay_ns = mono_ns - self.arrivals_ns[self.n_read - 1] if self.is_stamped else -1
        clock = self.clock
        clock.read(mono_ns, delay_ns, poll_ns, 1)
        for k in range(first, self.n_read):
            is_last = k == self.n_read - 1
            in_doubt = not self.is_stamped or (not is_last and clock.is_piled)
            self.claims.append((clock.t_us, clock.bound_us, is_last, in_doubt))


class Loop:
    """Polls level-triggered, wakes up `wake_ns` late, and reads at most `at_most` segments each."""

    def __init__(self, streams: list[Stream], wake_ns: int, at_most: int) -> None:
        self.now_ns = T0_NS
        self.streams, self.wake_ns, self.at_most = streams, wake_ns, at_most
        self.polls = Polls(lambda *_: self._known_ready(), clock=lambda: self.now_ns)

    def turn(self, work_ns: int, probe_ns: int, read_ns: int) -> None:
        polls = self.polls
        for s in self.streams:
            if s.since_turn < 0 and s.first_turn <= polls.turn:
                s.since_turn = polls.turn + 1
        self.now_ns += work_ns
        polls.before_poll()
        self.now_ns += probe_ns
        ready = self._ready()
        if not ready:
            self._sleep()
            ready = self._ready()
        polls.after_poll()
        for s in ready:
            self.now_ns += read_ns
            is_unsure = s.has_rest or polls.turn == s.since_turn
            s.read(
                self.now_ns, POLL_UNKNOWN if is_unsure else polls.of_read(self.now_ns), self.at_most
            )

    def _known_ready(self) -> list[Stream]:
        """A descriptor that is new in this turn comes to epoll with the poll, after the look."""
        return [s for s in self._ready() if s.since_turn < self.polls.turn]

    def _ready(self) -> list[Stream]:
        return [s for s in self.streams if s.since_turn >= 0 and s.waits(self.now_ns)]

    def _sleep(self) -> None:
        """Until the next segment of a watched stream, and then the delay; else for a while."""
        coming = [
            ns
            for s in self.streams
            for ns in s.arrivals_ns[s.n_read : s.n_read + 1]
            if s.since_turn >= 0
        ]
        self.now_ns = min(coming, default=self.now_ns) + self.wake_ns


@st.composite
def loops(draw: st.DrawFn) -> Loop:
    streams = []
    for _ in range(draw(st.integers(1, 3))):
        gaps = draw(st.lists(GAP, min_size=1, max_size=8))
        arrivals = [T0_NS + 1 + sum(gaps[: k + 1]) for k in range(len(gaps))]
        streams.append(Stream(arrivals, draw(st.booleans()), draw(st.integers(0, 2))))
    return Loop(streams, draw(WORK), draw(st.sampled_from([1, 2, 100])))


@settings(max_examples=150, deadline=None)
@given(loop=loops(), turns=st.lists(st.tuples(WORK, SOON, WORK), max_size=12))
def test_the_true_arrival_lies_between_the_stamp_less_its_bound_and_the_stamp(loop, turns):
    for work_ns, probe_ns, read_ns in turns:
        loop.turn(work_ns, probe_ns, read_ns)
    for stream in loop.streams:
        for true_ns, (t_us, bound_us, is_last, in_doubt) in zip(
            stream.arrivals_ns, stream.claims, strict=False
        ):
            early_us = t_us - (true_ns - T0_NS) // 1000
            assert early_us >= 0
            if in_doubt:
                assert early_us <= bound_us
            elif is_last:
                assert early_us == 0
            else:  # followed, in a loop that slept: off by how late it woke up and came at most
                off_ns = AWAY_NS + loop.wake_ns + LONGEST_PROBE_NS
                assert early_us <= LATE_US + off_ns // 1000 + 2


def test_a_busy_loop_casts_doubt_on_a_token_whose_follower_came_just_before_the_read():
    """The hole that the delay of the read alone leaves open."""
    ms = 1_000_000
    stream = Stream([T0_NS + 5 * ms, T0_NS + 29 * ms], is_stamped=True, first_turn=0)
    loop = Loop([stream], wake_ns=0, at_most=100)
    other = Stream([T0_NS + 1 * ms], is_stamped=True, first_turn=0)
    loop.streams.append(other)
    loop.turn(0, 0, 1000)  # sleeps until 1 ms, reads the other stream
    loop.turn(28 * ms, 0, 500_000)  # busy until 29 ms: both segments are there, read at 29.5
    (token, _) = stream.claims
    assert token[0] == 29_000
    assert token[3]
    assert 24_000 <= token[1] <= 28_001
    assert stream.clock.lag_us < LATE_US
