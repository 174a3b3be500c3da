"""THE HOT PATH: what happens at each read of each stream.  Budget: STYLE.md 13, make bench.

One recvmsg per wake-up (a second one that finds nothing costs 1.6 µs); the stamp first, then the
spool; ints and bytes only, for tuples kept per read wake the collector (50-150 ms).  httptools
sees every byte, for 0.15 µs a read, only to know where the message ends.
"""

import time
from collections.abc import Callable
from functools import partial

import httptools

from loadgen.transport import stamps
from loadgen.transport.answer import TAIL_BYTES, Answer
from loadgen.transport.call import Spool
from loadgen.transport.connection import Connection
from loadgen.transport.polls import Polls
from loadgen.transport.segments import Segments
from storage.raw_record import POLL_UNKNOWN, SpoolError

READ_BYTES = 16384  # each read first allocates so much; what is left comes in the next turn
USUAL_LINES = 5  # line ends of a read with one event in one chunk; more may be several events
MAX_DELAY_NS = stamps.MAX_DELAY_NS
TROUBLES = (OSError, httptools.HttpParserError, httptools.HttpParserUpgrade, SpoolError)


class Reading:
    """What all streams of a pool share: the spool, the loop's polls, the latest delays.

    ended(answer, error): the message is complete, the connection has ended (None too), or broke.
    """

    __slots__ = ("delays_ns", "ended", "failed", "polls", "spool")

    def __init__(
        self,
        spool: Spool,
        polls: Polls,
        ended: Callable[[Answer, Exception | None], None],
        failed: Callable[[SpoolError], None],
    ) -> None:
        self.spool, self.polls, self.ended, self.failed = spool, polls, ended, failed
        self.delays_ns: list[int] = []  # the same list for ever: readers keep its append

    def trouble(self, answer: Answer, error: Exception) -> None:
        """A read that raised: nothing is there (yet), the endpoint's fault, or the spool's."""
        if isinstance(error, SpoolError):
            self.failed(error)
        elif not isinstance(error, BlockingIOError):
            self.ended(answer, error)


def reader(answer: Answer, connection: Connection, shared: Reading) -> Callable[[], None]:
    """The callback for each time bytes of this answer wait to be read."""
    if answer.is_reused:
        return _reader(answer, connection, shared)
    return partial(_read_new, answer, connection, shared, shared.polls.turn)


def _read_new(answer: Answer, connection: Connection, shared: Reading, turn: int) -> None:
    """The first read of a new connection, which was first watched in that turn.

    libev tells epoll of it only after the turn's look at what waits, so in the next turn that look
    says nothing about this connection.
    """
    if shared.polls.turn == turn + 1:
        _read_unsure(answer, connection, shared)
    else:
        read = _reader(answer, connection, shared)
        connection.on_readable(read)
        read()


def _read_unsure(answer: Answer, connection: Connection, shared: Reading) -> None:
    """A read of which no poll tells since when its bytes were there; the next is a usual one."""
    read, polls = _reader(answer, connection, shared), shared.polls
    connection.on_readable(read)
    poll_ns, polls.poll_ns = polls.poll_ns, POLL_UNKNOWN
    try:
        read()
    finally:
        polls.poll_ns = poll_ns


def _vouched_ns(segments: Segments, polls: Polls, poll_ns: int, arrival_ns: int) -> int:
    """A better `poll_ns` for a read of several events: which instant all of them came after."""
    if segments.is_one():
        return arrival_ns
    woke_ns = polls.woke_ns() if poll_ns > 0 else poll_ns
    return woke_ns if woke_ns <= arrival_ns else poll_ns  # else it woke later than was thought


def _reader(answer: Answer, connection: Connection, shared: Reading) -> Callable[[], None]:
    recvmsg, keep, feed = connection.sock.recvmsg, shared.spool.read, answer.parser.feed_data
    decrypt = connection.decrypt if connection.is_translated else None
    monotonic_ns, realtime_ns, unpack = time.monotonic_ns, time.time_ns, stamps.TIMESPEC.unpack_from
    request_id, ancillary_bytes = answer.request_id, stamps.ANCILLARY_BYTES
    polls, note, most = shared.polls, shared.delays_ns.append, READ_BYTES
    segments = answer.segments

    def on_readable() -> None:
        try:
            data, ancillary, _, _ = recvmsg(most, ancillary_bytes)
            mono_ns, real_ns = monotonic_ns(), realtime_ns()  # nothing between: we may be paused
            delay_ns = -1
            if ancillary:  # stamps.delay_ns, inline
                seconds, nanoseconds = unpack(ancillary[0][2])
                delay_ns = real_ns - seconds * 1_000_000_000 - nanoseconds
                if not 0 <= delay_ns < MAX_DELAY_NS:
                    delay_ns = -1
            segments.reads += 1
            if len(data) == most:  # the rest waits since before the next poll
                segments.lose_count()
                connection.on_readable(partial(_read_unsure, answer, connection, shared))
            if decrypt is not None and data:
                data = decrypt(data)  # raises BlockingIOError for a part of a record
            if not data:
                shared.ended(answer, None)
                return
            n_bytes = len(data)
            answer.last_ns = mono_ns
            answer.n_bytes += n_bytes
            answer.tail = data if n_bytes >= TAIL_BYTES else answer.tail[-TAIL_BYTES:] + data
            note(delay_ns)
            poll_ns = polls.poll_ns  # Polls.of_read, inline
            poll_ns = poll_ns if mono_ns <= polls.late_ns else -abs(poll_ns)
            if data.count(b"\n") > USUAL_LINES and delay_ns >= 0:
                poll_ns = _vouched_ns(segments, polls, poll_ns, mono_ns - delay_ns)
            keep(request_id, mono_ns, delay_ns, poll_ns, data)
            feed(data)
            if answer.is_complete:
                shared.ended(answer, None)
        except TROUBLES as error:
            shared.trouble(answer, error)

    return on_readable
