"""When bytes arrived: from a read's own times to an instant on the run's line, and its doubt."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loadgen.transport.stamps import MAX_DELAY_NS
from storage.raw_record import POLL_UNKNOWN

MAX_I4 = 2**31 - 1
LATE_US = 1000
"""A read this much after its stamp is a late client's: bytes may have piled up before it."""
CLOCK_STEP_NS = 100_000_000
"""A stamp so long before an instant at which nothing had come: the wall clock was set."""


class Arrivals(NamedTuple):
    """What ArrivalClock.read makes of many reads, wherever they are ordinary: columns.

    Ordinary: there is a stamp that can be true, and it is not before that of the line above if this
    is the same request's.
    """

    arrival_ns: NDArray[np.int64]
    poll_ns: NDArray[np.int64]
    t_us: NDArray[np.int64]
    lag_us: NDArray[np.int64]
    is_ordinary: NDArray[np.bool_]

    def part(self, of: slice) -> "Arrivals":
        """Some of them."""
        arrival_ns, poll_ns, t_us, lag_us, is_ordinary = self
        return Arrivals(arrival_ns[of], poll_ns[of], t_us[of], lag_us[of], is_ordinary[of])


def arrivals(headers: NDArray[np.void], t0_ns: int) -> Arrivals:
    """headers: request_id, mono_ns, delay_ns, poll_ns of reads, as in storage.raw_record."""
    delay_ns, poll_ns = headers["delay_ns"], headers["poll_ns"]
    arrival_ns = headers["mono_ns"] - delay_ns
    is_ordinary = (delay_ns >= 0) & (delay_ns < MAX_DELAY_NS)
    is_ordinary &= arrival_ns >= np.abs(poll_ns) - CLOCK_STEP_NS
    is_first = headers["request_id"][1:] != headers["request_id"][:-1]
    is_ordinary[1:] &= is_first | (arrival_ns[1:] >= arrival_ns[:-1])
    t_us, lag_us = (arrival_ns - t0_ns) // 1000, delay_ns // 1000
    return Arrivals(arrival_ns, poll_ns, t_us, lag_us, is_ordinary)


class ArrivalClock:
    """The reads of one stream, in order; `*_us` count from the run's time zero.

    arrival = read - delay, where delay is how much later than its kernel stamp the read was;
    without a stamp that can be true it is the read.  It never runs backwards: a stamp is turned
    from one clock to another by two readings 0.1 µs apart, and the wall clock may be set meanwhile.
    """

    __slots__ = (
        "_arrival_ns",
        "_poll_ns",
        "_previous_ns",
        "_t0_ns",
        "bytes_received",
        "first_us",
        "lag_us",
        "n_missing",
        "t_us",
    )

    def __init__(self, t0_ns: int, begin_ns: int) -> None:
        self._t0_ns = t0_ns
        self._arrival_ns = self._previous_ns = begin_ns
        self._poll_ns = 0
        self.t_us = (begin_ns - t0_ns) // 1000
        self.lag_us = -1
        self.first_us: int | None = None
        self.n_missing = 0
        self.bytes_received = 0

    def read(self, mono_ns: int, delay_ns: int, poll_ns: int, n_bytes: int) -> None:
        """One read.  delay_ns -1: no kernel stamp; poll_ns: as in storage.raw_record."""
        if self.lag_us >= 0 or poll_ns != POLL_UNKNOWN:  # else the time of a read that left a rest
            self._previous_ns = self._arrival_ns
        arrival_ns = mono_ns - delay_ns
        since_ns = abs(poll_ns)
        if arrival_ns < since_ns:  # one of the two was taken too late: the poll is not relied on
            poll_ns = POLL_UNKNOWN
        if 0 <= delay_ns < MAX_DELAY_NS and arrival_ns >= since_ns - CLOCK_STEP_NS:
            self.lag_us = delay_ns // 1000
        else:
            arrival_ns = mono_ns
            self.lag_us = -1
            self.n_missing += 1
        previous_ns = self._arrival_ns
        self._arrival_ns = arrival_ns = arrival_ns if arrival_ns > previous_ns else previous_ns
        self._poll_ns = poll_ns
        self.t_us = t_us = (arrival_ns - self._t0_ns) // 1000
        self.bytes_received += n_bytes
        if self.first_us is None:
            self.first_us = t_us

    def read_run(self, times: Arrivals, n_bytes: int) -> bool:
        """Two ordinary reads or more at once, as `read` would take them one by one.

        False, and nothing is changed, if the first one's stamp is before the last arrival.
        """
        if times.arrival_ns[0] < self._arrival_ns:
            return False
        self._previous_ns, self._arrival_ns = times.arrival_ns[-2:].tolist()
        poll_ns = int(times.poll_ns[-1])
        self._poll_ns = poll_ns if self._arrival_ns >= abs(poll_ns) else POLL_UNKNOWN
        self.t_us, self.lag_us = int(times.t_us[-1]), int(times.lag_us[-1])
        self.bytes_received += n_bytes
        if self.first_us is None:
            self.first_us = int(times.t_us[0])
        return True

    @property
    def bound_us(self) -> int:
        """How much earlier than its stamp a byte of the last read may have arrived, rounded up.

        Not before the read before, nor before the instant that the polls of the loop vouch for.
        """
        since_ns = max(self._previous_ns, abs(self._poll_ns))
        return min(-(min(0, since_ns - self._arrival_ns) // 1000), MAX_I4)

    @property
    def is_piled(self) -> bool:
        """Whether what the last read holds may have come in several segments.

        The kernel's stamp is that of the LAST segment of a read.  A loop that slept in its poll
        woke at the first one and reads within some 0.1 ms, so all it gets is one segment, or came
        as good as at once; unless it was so late that the stamp is old.  A busy loop finds what
        piled up since the poll before, and a fresh stamp says nothing about it.
        """
        return self._poll_ns < 0 or self.lag_us > LATE_US

    def us(self, mono_ns: int | None) -> int | None:
        """An instant of the monotonic clock on the run's line; None stays None."""
        return None if mono_ns is None else (mono_ns - self._t0_ns) // 1000
