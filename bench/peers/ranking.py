"""Headway beside the best of the others, figure by figure: is it ever behind?"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from bench.peers.headway import HEADWAY
from bench.peers.peer import Spread, error
from bench.peers.side_by_side import Failed, Measured

Figure = Callable[[Measured], float | None]


@dataclass(frozen=True, slots=True)
class Median:
    """A figure of one tool at one level over its runs."""

    tool: str
    median: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Standing:
    """One figure at one level; smaller is better.  None: nobody, or not Headway, has it."""

    concurrency: int
    figure: str
    ours: Median | None
    best_other: Median | None

    @property
    def verdict(self) -> str:
        """Ahead or behind; "within its spread": the other's median lies among Headway's runs."""
        if self.ours is None or self.best_other is None:
            return "not comparable"
        if self.ours.median <= self.best_other.median:
            return "ahead"
        return "within its spread" if self.ours.least <= self.best_other.median else "behind"


def _part(told: str, which: str) -> Figure:
    def of(result: Measured) -> float | None:
        reported: Spread | None = getattr(result.reported, told)
        if reported is None:
            return None
        return getattr(error(getattr(result.truth, told), reported), which)

    return of


def _cpu_us(result: Measured) -> float:
    return result.cpu.load_s * 1e6 / result.whole.events


FIGURES: dict[str, Figure] = {
    f"{name} error {which}, ms": _part(told, which)
    for told, name in (("ttft", "TTFT"), ("gaps", "chunk gap"), ("per_token", "time per token"))
    for which in ("mean", "p50", "p99")
} | {"CPU under load, µs/event": _cpu_us}


def standings(results: list[Measured | Failed]) -> list[Standing]:
    """Every figure at every level, in the order of the levels measured."""
    worked = [r for r in results if isinstance(r, Measured)]
    found: list[Standing] = []
    for level in dict.fromkeys(r.concurrency for r in results):
        here = [r for r in worked if r.concurrency == level]
        for figure, of in FIGURES.items():
            medians = {m.tool: m for m in _medians(here, of)}
            ours = medians.pop(HEADWAY.name, None)
            best = min(medians.values(), key=lambda m: m.median, default=None)
            found.append(Standing(level, figure, ours, best))
    return found


def _medians(results: list[Measured], of: Figure) -> list[Median]:
    values: dict[str, list[float]] = {}
    for result in results:
        value = of(result)
        if value is not None:
            values.setdefault(result.tool, []).append(value)
    return [Median(t, statistics.median(v), min(v), max(v)) for t, v in values.items()]
