"""How far another host's monotonic clock is from ours, from round trips over the run's channel.

The clocks count from different instants, so only their difference makes sense.  A round trip tells
it to within half of its own length: the answer was written somewhere between our two readings.
Source: D. Mills, RFC 5905 (NTP), section 8.
"""

from dataclasses import dataclass

DRIFT = 100e-6  # two clocks that nobody disciplines part by less than 100 µs a second
MOST_AGE_NS = 60_000_000_000


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Readings of both clocks, ns: asked and answered are ours, got and sent are theirs."""

    asked_ns: int
    got_ns: int
    sent_ns: int
    answered_ns: int

    @property
    def offset_ns(self) -> int:
        """Theirs minus ours, the way there taken to be as long as the way back."""
        return ((self.got_ns - self.asked_ns) + (self.sent_ns - self.answered_ns)) // 2

    @property
    def error_ns(self) -> int:
        """The true offset lies at most this far away, however unequal the two ways were."""
        on_the_way_ns = (self.answered_ns - self.asked_ns) - (self.sent_ns - self.got_ns)
        return max(0, -(-on_the_way_ns // 2))

    def error_at_ns(self, now_ns: int) -> int:
        """The same at a later instant: meanwhile the clocks may have drifted apart."""
        return self.error_ns + round(max(0, now_ns - self.answered_ns) * DRIFT)


@dataclass(frozen=True, slots=True)
class Offset:
    """Their clock minus ours, and how far from the truth that may be."""

    offset_ns: int
    error_ns: int


class ClockOffset:
    """Round trips of the last minute; the best of them tells the offset."""

    def __init__(self) -> None:
        self._trips: list[RoundTrip] = []

    def add(self, trip: RoundTrip) -> None:
        """One more; those much older are forgotten."""
        oldest_ns = trip.answered_ns - MOST_AGE_NS
        self._trips = [t for t in self._trips if t.answered_ns >= oldest_ns] + [trip]

    def at(self, now_ns: int) -> Offset | None:
        """The offset as known at an instant of our clock; None before the first round trip."""
        best = min(self._trips, key=lambda trip: trip.error_at_ns(now_ns), default=None)
        if best is None:
            return None
        return Offset(best.offset_ns, best.error_at_ns(now_ns))
