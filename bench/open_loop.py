"""Open loop: how late does a request begin, and what does it cost besides its events?

Late as the run says (dispatched - due), and as the truth server's kernel does: its stamp of the
request's last bytes - due.  Both processes read one monotonic clock.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.frames import Floats, floats, is_in, where, words
from bench.figures import Figure
from bench.one_run import Load, TruthRun, stage_against_truth

SECONDS = 12
SETTLED_NS = 2_000_000_000  # after the first arrival; from then on as many streams end as begin
TOKENS, LONG_TOKENS = 8, 64
ASKED_P99_MS = {500: 1, 2000: 5}
ASKED_COST_US = "<= 150"


@lru_cache(maxsize=1)
def run_at(rate_per_s: float, arrivals: str, n_tokens: int, _turn: int) -> TruthRun:
    """A run of this many requests per second."""
    stage = {"kind": "open", "rate_per_s": rate_per_s, "arrivals": arrivals, "seconds": SECONDS}
    return stage_against_truth(stage, Load(n_tokens=n_tokens))


def open_loop(turn: int) -> list[Figure]:
    """Lateness at 500 and 2,000 requests/s of 8 tokens, and worker CPU per request."""
    found: list[Figure] = []
    for rate, asked_ms in ASKED_P99_MS.items():
        for arrivals in ("constant", "poisson"):
            run = run_at(rate, arrivals, TOKENS, turn)
            found += lateness(run, f"{rate}/s {arrivals} ", asked_ms)
        found += cost(Spent.of(run), Spent.of(run_at(rate / 8, "poisson", LONG_TOKENS, turn)), rate)
    return found


def lateness(run: TruthRun, at: str, asked_ms: float) -> list[Figure]:
    """Of every request that was sent; those that were not are counted."""
    found = [
        *_quantiles(at + "dispatch late", dispatch_late_us(run), f"<= {asked_ms}"),
        *_quantiles(at + "at the server late", wire_late_us(run), ""),
    ]
    not_sent = int(is_in(run.requests, "outcome", "not_sent").sum())
    return [
        *found,
        Figure(at + "requests", len(run.requests), ""),
        Figure(at + "requests not sent", not_sent, "", "<= 0"),
        Figure(at + "requests not complete", run.joined.n_incomplete, "", "<= 0"),
    ]


def dispatch_late_us(run: TruthRun) -> Floats:
    """Taken up by the worker, after the schedule's instant."""
    return floats(run.requests, "dispatched_us") - floats(run.requests, "due_us")


def wire_late_us(run: TruthRun) -> Floats:
    """Its last byte in the server's kernel, after the schedule's instant."""
    log, numbers = run.log, run.log.request_ids()
    arrived = dict(
        zip(log.arrivals["request"].tolist(), log.arrivals["mono_ns"].tolist(), strict=True)
    )
    sent = where(
        run.requests, np.array([x in numbers for x in words(run.requests, "x_request_id")])
    )
    at_ns = np.array([arrived[numbers[x]] for x in words(sent, "x_request_id")])
    return (at_ns - run.t0_mono_ns) / 1e3 - floats(sent, "due_us")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a worker did per second while a run was settled: cores used, requests, token events."""

    cores: float
    requests_per_s: float
    tokens_per_s: float

    @classmethod
    def of(cls, run: TruthRun) -> "Spent":
        """From the server's log and the process' CPU time."""
        arrivals_ns, tokens_ns = run.log.arrivals["mono_ns"], run.log.tokens["mono_ns"]
        begin_ns, end_ns = int(arrivals_ns.min()) + SETTLED_NS, int(arrivals_ns.max())
        seconds = (end_ns - begin_ns) / 1e9
        n_requests, n_tokens = (
            int(((at_ns >= begin_ns) & (at_ns < end_ns)).sum())
            for at_ns in (arrivals_ns, tokens_ns)
        )
        used_s = run.cpu.used_s("worker", begin_ns, end_ns)
        return cls(used_s / seconds, n_requests / seconds, n_tokens / seconds)


def cost(short: Spent, long: Spent, rate: int) -> list[Figure]:
    """CPU per request besides its token events, from two runs with as many of those per second.

    cores = requests/s * request_s + tokens/s * token_s, of both runs; role, finish, usage and
    [DONE], four events more of each answer, count as the request's.
    """
    of_work = np.array([[s.requests_per_s, s.tokens_per_s] for s in (short, long)])
    request_s, token_s = np.linalg.solve(of_work, np.array([short.cores, long.cores])).tolist()
    at = f"{rate}/s "
    return [
        Figure(at + "worker CPU per request besides tokens", request_s * 1e6, "µs", ASKED_COST_US),
        Figure(at + "worker CPU per token event", token_s * 1e6, "µs"),
        Figure(at + "worker CPU", short.cores, "core"),
        Figure(at + "worker CPU in answers of 64 tokens", long.cores, "core"),
    ]


def _quantiles(name: str, late_us: Floats, asked_p99: str) -> list[Figure]:
    p50, p99, most = (np.quantile(late_us, [0.5, 0.99, 1]) / 1e3).tolist()
    return [
        Figure(name + " p50", p50, "ms"),
        Figure(name + " p99", p99, "ms", asked_p99),
        Figure(name + " max", most, "ms"),
    ]
