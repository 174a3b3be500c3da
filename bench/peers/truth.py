"""What really happened in a tool's run, out of the truth server's log."""

from dataclasses import dataclass

import numpy as np

from bench.peers.peer import Spread
from bench.truth_log import TruthLog

NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Truth:
    """True times of one load, ms, and its extent on the monotonic line."""

    requests: int
    events: int
    ttft: Spread  # send of token 0 minus arrival of the request, both at the server
    gaps: Spread
    per_token: Spread
    begin_ns: int  # the first request arrived
    end_ns: int  # the last token was sent

    @property
    def events_per_s(self) -> float:
        """Token events over the whole load, its first and last answers included."""
        return self.events * 1e9 / (self.end_ns - self.begin_ns)


def load_of(log: TruthLog, requests: int) -> TruthLog:
    """The last `requests` to arrive; before them a tool may ask whether the server lives."""
    arrivals = np.sort(log.arrivals, order="mono_ns")
    return log.only(arrivals["request"][-requests:].tolist())


def within(log: TruthLog, window_ns: tuple[int, int] | None) -> TruthLog:
    """Only the requests that arrived in [begin, end); all of them if there is no window."""
    if window_ns is None:
        return log
    arrived = log.arrivals
    inside = (arrived["mono_ns"] >= window_ns[0]) & (arrived["mono_ns"] < window_ns[1])
    return log.only(arrived["request"][inside].tolist())


def truth_of(log: TruthLog) -> Truth:
    """Raises ValueError if no token was sent."""
    tokens = np.sort(log.tokens, order=["request", "seq"])
    if not len(tokens):
        raise ValueError("the truth server sent no token")
    arrived = {int(a["request"]): int(a["mono_ns"]) for a in log.arrivals}
    is_first, is_last = tokens["seq"] == 0, np.r_[tokens["seq"][1:] == 0, True]
    sent, number = tokens["mono_ns"], tokens["request"][is_first]
    ttft_ns = sent[is_first] - np.array([arrived[int(n)] for n in number])
    gap_ns = np.diff(sent)[~is_first[1:]]
    n_gaps = tokens["seq"][is_last]
    long_enough = n_gaps > 0
    span_ns = (sent[is_last] - sent[is_first])[long_enough]
    return Truth(
        requests=len(number),
        events=len(tokens),
        ttft=_spread(ttft_ns),
        gaps=_spread(gap_ns),
        per_token=_spread(span_ns / n_gaps[long_enough]),
        begin_ns=min(arrived.values()),
        end_ns=int(sent.max()),
    )


def _spread(times_ns: np.ndarray) -> Spread:
    if not len(times_ns):
        return Spread(None, None, None)
    p50, p99 = np.percentile(times_ns, [50, 99]) / NS_PER_MS
    return Spread(float(np.mean(times_ns)) / NS_PER_MS, float(p50), float(p99))
