"""What does TLS cost the load worker?  The same load in clear, then through TLS."""

from bench.figures import Figure
from bench.one_run import Load, TruthRun, against_truth
from bench.truth_join import quantiles_ms

CONCURRENCY, SECONDS = 256, 10


def tls_cost(_turn: int) -> list[Figure]:
    """Worker CPU per event of TLS over plain, and what is left of the stamps."""
    plain = against_truth(CONCURRENCY, SECONDS)
    tls = against_truth(CONCURRENCY, SECONDS, Load(is_tls=True))
    plain_us, tls_us = (run.cpu_us_per_event("worker") for run in (plain, tls))
    return [
        Figure("worker CPU per event, plain", plain_us, "µs"),
        Figure("worker CPU per event, TLS", tls_us, "µs"),
        Figure("TLS over plain", tls_us / plain_us, "x", "<= 1.8"),
        Figure("reads without a kernel stamp, TLS", tls.joined.n_no_stamp, "", "<= 0"),
        Figure("arrival error p99, not in doubt, plain", _exact_ms(plain), "ms"),
        Figure("arrival error p99, not in doubt, TLS", _exact_ms(tls), "ms"),
        Figure("tokens missing, TLS", tls.joined.n_missing, "", "<= 0"),
    ]


def _exact_ms(run: TruthRun) -> float:
    return quantiles_ms(run.joined.arrival_us[~run.joined.is_shared])[1]
