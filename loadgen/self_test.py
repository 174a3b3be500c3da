"""Does the client see what it should?  Events dripped at known times, against when it saw them.

A client that waits for a full block before it hands bytes on shows several tokens at once, and
every gap it reports is wrong though nothing fails (Locust's iter_lines: 0, 0, 0, 0, 100 ms for
events 20 ms apart).  So each run begins with this test of its own client.
"""

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

from loadgen.drip import Drip, DripError, drip

N_EVENTS, GAP_MS = 20, 20
BUSY_US = 1000  # a larger error than this is worth a word
SEEN_SHARE = 0.5  # a gap seen shorter than this share of the true one counts as merged


@dataclass(frozen=True, slots=True)
class SelfTest:
    """How far arrivals were from sends, µs; ok False: no gap may be believed; None: not known."""

    ok: bool | None
    sentence: str
    n: int = 0  # events that were seen
    n_merged: int = 0  # of them, such as came with the one before
    error_p50_us: int | None = None  # arrival minus send; on loopback the way takes next to nothing
    error_max_us: int | None = None
    gap_error_max_us: int | None = None
    stamps: Literal["kernel", "user"] | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether somebody should read the sentence."""
        return not self.ok or (self.error_max_us or 0) > BUSY_US

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, for run.json."""
        return asdict(self)


def self_test() -> SelfTest:
    """Half a second; never raises.  A failure counts only if a second try shows it again.

    A machine so busy that this process stands still for most of the drip fails once; a client
    that buffers fails always.
    """
    try:
        seen = judge(drip(N_EVENTS, GAP_MS))
        return seen if seen.ok else judge(drip(N_EVENTS, GAP_MS))
    except DripError as error:
        return SelfTest(None, f"The drip self-test could not be made: {error}.")


def judge(seen: Drip) -> SelfTest:
    """Errors of one drip, and whether its gaps were seen at all."""
    sent_ns, arrived_ns = seen.sent_ns, seen.arrived_ns
    if len(sent_ns) != len(arrived_ns) or len(sent_ns) < 2:
        return SelfTest(False, _lost(len(sent_ns), len(arrived_ns)), n=len(arrived_ns))
    errors_us = sorted(
        abs(came - sent) // 1000 for sent, came in zip(sent_ns, arrived_ns, strict=True)
    )
    gaps_ns = [
        (b - a, d - c)
        for (a, b), (c, d) in zip(pairwise(sent_ns), pairwise(arrived_ns), strict=True)
    ]
    n_merged = sum(seen_ns < SEEN_SHARE * true_ns for true_ns, seen_ns in gaps_ns)
    ok = n_merged <= len(gaps_ns) / 2
    return SelfTest(
        ok=ok,
        sentence=_saw(errors_us, seen.stamps, n_merged) if ok else _merged(n_merged, len(sent_ns)),
        n=len(arrived_ns),
        n_merged=n_merged,
        error_p50_us=errors_us[len(errors_us) // 2],
        error_max_us=errors_us[-1],
        gap_error_max_us=max(abs(seen_ns - true_ns) for true_ns, seen_ns in gaps_ns) // 1000,
        stamps=seen.stamps,
    )


def _saw(errors_us: list[int], stamps: str, n_merged: int) -> str:
    median_us, worst_us = errors_us[len(errors_us) // 2], errors_us[-1]
    said = (
        f"Drip self-test: {len(errors_us)} events sent {GAP_MS} ms apart were seen with an error "
        f"of {_ms(median_us)} (median) and {_ms(worst_us)} (worst), by {stamps} stamps."
    )
    if n_merged:
        said += f" {n_merged} of them came together with the one before."
    if worst_us > BUSY_US:
        said += " This machine is busy: end other programs, or see the verdict of the run."
    return said


def _merged(n_merged: int, n: int) -> str:
    return (
        f"Drip self-test: of {n} events sent {GAP_MS} ms apart, {n_merged} came together with the "
        "one before, so no gap between tokens could be believed and nothing was measured. "
        "Something on this machine keeps bytes back, or it is far too busy: end other programs, or "
        "measure from another machine."
    )


def _lost(n_sent: int, n_seen: int) -> str:
    return (
        f"Drip self-test: of {n_sent} events sent, {n_seen} were seen, so no count of tokens could "
        "be believed and nothing was measured. This is a fault of Headway: please report it."
    )


def _ms(us: int) -> str:
    return f"{us / 1000:.2f} ms" if us < 10_000 else f"{us / 1000:,.0f} ms"
