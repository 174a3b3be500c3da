"""Two load workers instead of one: what does an event cost then?  512 streams x 50 tok/s."""

from bench.figures import Figure
from bench.one_run import Load, TruthRun, against_truth

CONCURRENCY, SECONDS = 512, 15


def two_workers(_turn: int) -> list[Figure]:
    """CPU per event of both workers together, over that of one alone; one run after the other."""
    one, two = (against_truth(CONCURRENCY, SECONDS, Load(workers=n)) for n in (1, 2))
    alone_us, together_us = _us(one), _us(two)
    return [
        Figure("one worker, CPU per event", alone_us, "µs"),
        Figure("two workers, CPU per event", together_us, "µs"),
        Figure("two over one", together_us / alone_us, "x", "<= 1.1"),
        Figure("tokens missing with two", two.joined.n_missing, "", "<= 0"),
        Figure("tokens doubled with two", two.joined.n_doubled, "", "<= 0"),
    ]


def _us(run: TruthRun) -> float:
    return run.cpu_us_per_event("worker")
