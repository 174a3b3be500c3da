"""A segment's reads at once, and what each means if it is the usual one: a stamped plain event.

A few calls of numpy for 25,000 reads give what ArrivalClock.read and TokenLog.append give one by
one.  Whether a read is the usual one is seen later, stream by stream, by ExchangeDecoder.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loadgen.arrival import Arrivals, arrivals
from loadgen.token_log import plain_rows
from storage.raw_groups import Reads


class ReadTable(NamedTuple):
    """Each read's line becomes a row of the token log once at most, and is written to then."""

    reads: Reads
    arrivals: Arrivals
    rows: NDArray[np.void]

    def part(self, of: slice) -> "ReadTable":
        """Some of them."""
        return ReadTable(self.reads[of], self.arrivals.part(of), self.rows[of])


def read_table(reads: Reads, t0_mono_ns: int) -> ReadTable:
    """reads: by request, each one's in their order."""
    times = arrivals(reads.headers, t0_mono_ns)
    rows = plain_rows(reads.headers["request_id"], times.t_us, times.lag_us)
    return ReadTable(reads, times, rows)
