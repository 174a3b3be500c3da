"""How wrong are the times Headway stores?  A whole run against the truth server's log."""

from functools import lru_cache

from bench.figures import Figure
from bench.one_run import TruthRun, against_truth
from bench.truth_join import quantiles_ms

SECONDS = 10


@lru_cache(maxsize=2)
def run_at(concurrency: int, _turn: int) -> TruthRun:
    """The run of this turn; client_cost and decoder_cost read the same one."""
    return against_truth(concurrency, SECONDS)


def client_error(turn: int) -> list[Figure]:
    """Arrival, gap and TTFT error, lost and doubled tokens at 64 and 512 streams x 50 tok/s."""
    return [*_errors(64, turn), *_errors(512, turn)]


def _errors(concurrency: int, turn: int) -> list[Figure]:
    found = run_at(concurrency, turn).joined
    asked = concurrency == 64
    strict = concurrency == 512
    arrival, gap = quantiles_ms(found.arrival_us), quantiles_ms(found.gap_us)
    mono, ttft = quantiles_ms(found.arrival_mono_us), quantiles_ms(found.ttft_us)
    exact = quantiles_ms(found.arrival_us[~found.is_shared])
    at = f"c={concurrency} "
    return [
        Figure(at + "arrival error p50", arrival[0], "ms", "<= 0.03" if asked else ""),
        Figure(at + "arrival error p99", arrival[1], "ms", "<= 0.3" if asked else ""),
        Figure(at + "arrival error p99.9", arrival[2], "ms"),
        Figure(at + "arrival error p99, not in doubt", exact[1], "ms"),
        Figure(at + "arrival error p50, monotonic line", mono[0], "ms"),
        Figure(at + "arrival error p99, monotonic line", mono[1], "ms"),
        Figure(at + "gap error p99", gap[1], "ms", "<= 0.05" if strict else "<= 0.1"),
        Figure(at + "gap error p99.9", gap[2], "ms"),
        Figure(at + "TTFT error p50", ttft[0], "ms"),
        Figure(at + "TTFT error p99", ttft[1], "ms", "<= 0.1" if strict else ""),
        Figure(at + "tokens missing", found.n_missing, "", "<= 0"),
        Figure(at + "tokens doubled", found.n_doubled, "", "<= 0"),
        Figure(at + "tokens compared", found.n_truth, ""),
        Figure(at + "reads without a kernel stamp", found.n_no_stamp, ""),
        Figure(at + "in doubt (shared reads)", 100 * float(found.is_shared.mean()), "%"),
        Figure(at + "requests not complete", found.n_incomplete, ""),
    ]
