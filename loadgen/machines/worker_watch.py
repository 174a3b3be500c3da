"""Are all load workers still at it?  Who died, hung or went away is named, once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadgen.machines.outposts import Outposts
from loadgen.machines.roster import Roster

SILENT_NS = 15_000_000_000  # while it measures; it is heard each second
BUSY_NS = 300_000_000_000  # while it prepares a level, which may take all of its time
OWN_GAP_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Loss:
    """A load worker that takes no further part.  name: `Load worker 1 on gpu-7 (10.0.0.7)`."""

    worker: int
    name: str
    how: str  # "was killed by signal 9"
    at_ns: int


class WorkerWatch:
    """Looks at local processes' ends, at what outposts tell, and at how long all were silent.

    ended: exit codes of the local workers that have ended.
    """

    def __init__(
        self, roster: Roster, outposts: Outposts | None, ended: Callable[[], Mapping[int, int]]
    ) -> None:
        self._roster = roster
        self._outposts = outposts
        self._ended = ended
        self._looked_ns: int | None = None
        self._since_ns = 0
        self.lost: dict[int, Loss] = {}

    def look(self, now_ns: int, is_measuring: bool) -> list[Loss]:
        """Those lost since the last look."""
        if self._looked_ns is None or now_ns - self._looked_ns > OWN_GAP_NS:
            self._since_ns = now_ns  # we ourselves were away: nobody could be heard
        self._looked_ns = now_ns
        found = dict(self._deaths())
        limit_ns = SILENT_NS if is_measuring else BUSY_NS
        for seated in self._roster.all():
            silent_ns = now_ns - max(seated.heard_ns, self._since_ns)
            if silent_ns > limit_ns:
                found.setdefault(seated.worker, f"was not heard for {silent_ns / 1e9:.0f} s")
        losses = [
            Loss(worker, self.name(worker), how, now_ns)
            for worker, how in found.items()
            if worker not in self.lost
        ]
        self.lost |= {loss.worker: loss for loss in losses}
        return losses

    def name(self, worker: int) -> str:
        """As sentences say it."""
        place = self._outposts and self._outposts.of_worker(worker)
        return f"Load worker {worker} on {place.name}" if place else f"Load worker {worker}"

    def _deaths(self) -> dict[int, str]:
        found = {worker: _how(code) for worker, code in self._ended().items()}
        for place in self._outposts.taken.values() if self._outposts else ():
            if place.is_leaving:
                found[place.worker] = "was ended there by hand"
            elif place.worker_code is not None:
                found[place.worker] = _how(place.worker_code)
        return found


def _how(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
