"""What the engine did, under the metric names of a vLLM server; our own begin with headway_sim_.

Times are those of the engine (virtual ns, which the server keeps equal to CLOCK_MONOTONIC).
Names, help texts and bucket bounds: vLLM 0.32.0, /metrics.
"""

from collections import Counter

from simulator.engine import Engine
from simulator.prometheus import Exposition, Histogram
from simulator.sequence import Sequence, Step

_TTFT_S = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
_TOKEN_S = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
)  # fmt: skip
_REQUEST_S = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
)  # fmt: skip
_LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_ITERATION = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_LATE_S = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)

_HISTOGRAMS: dict[str, tuple[str, tuple[float, ...]]] = {
    "vllm:iteration_tokens_total": ("Histogram of number of tokens per engine_step.", _ITERATION),
    "vllm:request_prompt_tokens": ("Number of prefill tokens processed.", _LENGTHS),
    "vllm:request_generation_tokens": ("Number of generation tokens processed.", _LENGTHS),
    "vllm:request_params_max_tokens": ("Histogram of the max_tokens request parameter.", _LENGTHS),
    "vllm:time_to_first_token_seconds": ("Histogram of time to first token in seconds.", _TTFT_S),
    "vllm:inter_token_latency_seconds": (
        "Histogram of inter-token latency in seconds.",
        _TOKEN_S,
    ),
    "vllm:request_time_per_output_token_seconds": (
        "Histogram of time_per_output_token_seconds per request.",
        _TOKEN_S,
    ),
    "vllm:e2e_request_latency_seconds": (
        "Histogram of e2e request latency in seconds.",
        _REQUEST_S,
    ),
    "vllm:request_queue_time_seconds": (
        "Histogram of time spent in WAITING phase for request.",
        _REQUEST_S,
    ),
    "vllm:request_inference_time_seconds": (
        "Histogram of time spent in RUNNING phase for request.",
        _REQUEST_S,
    ),
    "vllm:request_prefill_time_seconds": (
        "Histogram of time spent in PREFILL phase for request.",
        _REQUEST_S,
    ),
    "vllm:request_decode_time_seconds": (
        "Histogram of time spent in DECODE phase for request.",
        _REQUEST_S,
    ),
    "headway_sim_step_late_seconds": (
        "How long after a step's end the simulator woke to write its events.",
        _LATE_S,
    ),
}


class VllmMetrics:
    """Counts what happened; `page` adds what is the case now."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.finished: dict[str, int] = {"stop": 0, "length": 0, "abort": 0, "error": 0}
        self._histograms = {name: Histogram(bounds) for name, (_, bounds) in _HISTOGRAMS.items()}

    def observe(self, name: str, value: float, times: int = 1) -> None:
        """Count a value in the histogram `name`."""
        self._histograms[name].observe(value, times)

    def step_done(self, step: Step) -> None:
        """Count a finished step."""
        totals = self.totals
        totals["preemptions"] += len(step.preempted)
        for sequence in step.admitted:
            totals["prompt"] += sequence.request.prompt_tokens
            totals["cached"] += sequence.cached_tokens
        generated = sum(emission.n_tokens for emission in step.emissions)
        totals["generation"] += generated
        self.observe("vllm:iteration_tokens_total", generated + step.prefill_tokens)
        # Most of a batch got its previous token at the same instant: one look-up for all of those.
        for previous_ns, times in Counter(e.previous_ns for e in step.emissions).items():
            if previous_ns is not None:
                gap_s = (step.end_ns - previous_ns) / 1e9
                self.observe("vllm:inter_token_latency_seconds", gap_s, times)
        for sequence, n_tokens, previous_ns in step.emissions:
            if previous_ns is None and n_tokens:
                ttft_s = (step.end_ns - sequence.arrival_ns) / 1e9
                self.observe("vllm:time_to_first_token_seconds", ttft_s)

    def late(self, late_ns: int, slipped_ns: int) -> None:
        """Count how late a step's events were written, and by how much the next one was moved."""
        self.observe("headway_sim_step_late_seconds", max(0, late_ns) / 1e9)
        self.totals["slipped_ns"] += slipped_ns

    def request_done(self, sequence: Sequence, reason: str) -> None:
        """Count a request that got all its tokens."""
        self.finished[reason] += 1
        admitted_ns, first_ns, last_ns = (
            sequence.admitted_ns, sequence.first_token_ns, sequence.last_token_ns,
        )  # fmt: skip
        assert admitted_ns is not None
        assert first_ns is not None
        assert last_ns is not None
        n_out = sequence.request.output_tokens
        seconds = {
            "e2e_request_latency": last_ns - sequence.arrival_ns,
            "request_queue_time": admitted_ns - sequence.arrival_ns,
            "request_inference_time": last_ns - admitted_ns,
            "request_prefill_time": first_ns - admitted_ns,
            "request_decode_time": last_ns - first_ns,
        }
        for name, ns in seconds.items():
            self.observe(f"vllm:{name}_seconds", ns / 1e9)
        if n_out > 1:
            tpot_s = (last_ns - first_ns) / (n_out - 1) / 1e9
            self.observe("vllm:request_time_per_output_token_seconds", tpot_s)
        self.observe("vllm:request_prompt_tokens", sequence.request.prompt_tokens)
        self.observe("vllm:request_generation_tokens", n_out)

    def page(self, engine: Engine, model: str) -> str:
        """The whole /metrics page."""
        page = Exposition({"engine": "0", "model_name": model})
        blocks = engine.blocks
        present = (engine.n_running, engine.n_waiting, blocks.used / blocks.total)
        for (name, text), value in zip(_GAUGES, present, strict=True):
            page.gauge(name, text, value)
        for name, text, key in _COUNTERS:
            page.counter(name, text, self.totals[key])
        page.counter(_SLIPPED[0], _SLIPPED[1], self.totals["slipped_ns"] / 1e9)
        page.counters(_SUCCESS[0], _SUCCESS[1], ("finished_reason", self.finished))
        for name, (text, _) in _HISTOGRAMS.items():
            page.histogram(name, text, self._histograms[name])
        return page.text()


_GAUGES = (
    ("vllm:num_requests_running", "Number of requests in model execution batches."),
    ("vllm:num_requests_waiting", "Number of requests waiting to be processed."),
    ("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
)
_COUNTERS = (
    (
        "vllm:prefix_cache_queries_total",
        "Prefix cache queries, in terms of number of queried tokens.",
        "prompt",
    ),
    (
        "vllm:prefix_cache_hits_total",
        "Prefix cache hits, in terms of number of cached tokens.",
        "cached",
    ),
    (
        "vllm:num_preemptions_total",
        "Cumulative number of preemption from the engine.",
        "preemptions",
    ),
    ("vllm:prompt_tokens_total", "Number of prefill tokens processed.", "prompt"),
    ("vllm:prompt_tokens_cached_total", "Number of cached prompt tokens.", "cached"),
    ("vllm:generation_tokens_total", "Number of generation tokens processed.", "generation"),
    (
        "headway_sim_buffered_writes_total",
        "Events that a client's socket did not take at once.",
        "buffered_writes",
    ),
)
_SUCCESS = ("vllm:request_success_total", "Count of successfully processed requests.")
_SLIPPED = (
    "headway_sim_slipped_seconds_total",
    "Time by which steps were moved because the simulator itself was late.",
)
