"""2,000 streams x 20 tok/s: is any token lost, and how many arrivals are in doubt?"""

from bench.figures import Figure
from bench.one_run import Load, against_truth
from bench.truth_join import quantiles_ms

CONCURRENCY, SECONDS = 2000, 15


def many_streams(_turn: int) -> list[Figure]:
    """Losses, arrival error of what is not in doubt, the share in doubt, and the worker's CPU."""
    run = against_truth(CONCURRENCY, SECONDS, Load(itl_ms=50, n_tokens=128))
    found = run.joined
    exact, every = quantiles_ms(found.arrival_us[~found.is_shared]), quantiles_ms(found.arrival_us)
    begin_ns, end_ns = run.window_ns
    return [
        Figure("tokens missing", found.n_missing, "", "<= 0"),
        Figure("tokens doubled", found.n_doubled, "", "<= 0"),
        Figure("tokens compared", found.n_truth, ""),
        Figure("requests not complete", found.n_incomplete, ""),
        Figure("arrival error p99, not in doubt", exact[1], "ms", "<= 0.1"),
        Figure("arrival error p99, every arrival", every[1], "ms"),
        Figure("in doubt (shared reads)", 100 * float(found.is_shared.mean()), "%", "<= 0.1"),
        Figure("worker CPU per event", run.cpu_us_per_event("worker"), "µs"),
        Figure("events per second", len(run.log.tokens) / ((end_ns - begin_ns) / 1e9), "/s"),
    ]
