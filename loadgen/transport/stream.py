"""THE HOT PATH: what happens at each read of each stream.  Budget: STYLE.md 13, make bench.

One recvmsg per wake-up (a second one that finds nothing costs 1.6 µs); the stamp first, then the
spool; ints and bytes only, for tuples kept per read wake the collector (50-150 ms).  httptools
sees every byte, for 0.15 µs a read, only to know where the message ends.
"""

import time
from collections.abc import Callable

import httptools

from loadgen.transport import stamps
from loadgen.transport.answer import TAIL_BYTES, Answer
from loadgen.transport.call import Spool
from loadgen.transport.connection import Connection
from storage.raw_record import SpoolError

READ_BYTES = 65536


class Reading:
    """What all streams of a pool share: the spool, the loop's poll times, the latest delays.

    ended(answer, error): the message is complete, the connection has ended (None too), or broke.
    """

    __slots__ = ("delays_ns", "ended", "failed", "poll_ns", "previous_poll_ns", "spool")

    def __init__(
        self,
        spool: Spool,
        ended: Callable[[Answer, Exception | None], None],
        failed: Callable[[SpoolError], None],
    ) -> None:
        self.spool, self.ended, self.failed = spool, ended, failed
        self.delays_ns: list[int] = []
        self.poll_ns = self.previous_poll_ns = time.monotonic_ns()

    def after_poll(self) -> None:
        """The loop calls this each time its poll returns, before any reader."""
        self.previous_poll_ns = self.poll_ns
        self.poll_ns = time.monotonic_ns()


def reader(answer: Answer, connection: Connection, shared: Reading) -> Callable[[], None]:
    """The callback for each time bytes of this answer wait to be read."""
    recvmsg, keep, feed = connection.sock.recvmsg, shared.spool.read, answer.parser.feed_data
    decrypt = connection.decrypt if connection.is_translated else None
    monotonic_ns, realtime_ns, unpack = time.monotonic_ns, time.time_ns, stamps.TIMESPEC.unpack_from
    request_id, ancillary_bytes = answer.request_id, stamps.ANCILLARY_BYTES

    def on_readable() -> None:
        try:
            data, ancillary, _, _ = recvmsg(READ_BYTES, ancillary_bytes)
            mono_ns = monotonic_ns()
            delay_ns = -1
            if ancillary:  # stamps.delay_ns, inline
                seconds, nanoseconds = unpack(ancillary[0][2])
                delay_ns = realtime_ns() - seconds * 1_000_000_000 - nanoseconds
                if not 0 <= delay_ns < stamps.MAX_DELAY_NS:
                    delay_ns = -1
            if decrypt is not None and data:
                data = decrypt(data)  # raises BlockingIOError for a part of a record
            if not data:
                shared.ended(answer, None)
                return
            answer.last_ns = mono_ns
            answer.tail = data if len(data) >= TAIL_BYTES else answer.tail[-TAIL_BYTES:] + data
            shared.delays_ns.append(delay_ns)
            keep(request_id, mono_ns, delay_ns, shared.previous_poll_ns, data)
            feed(data)
            if answer.is_complete:
                shared.ended(answer, None)
        except BlockingIOError:
            return
        except (OSError, httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            shared.ended(answer, error)
        except SpoolError as error:
            shared.failed(error)

    return on_readable
