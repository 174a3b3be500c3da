"""METRICS: each number Headway shows, said once.  Tables, SLOs, docs/metrics.md and --json read it.

A new per-request metric is one function in per_request.py and one entry here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis import per_request
from analysis.frames import Floats

STALLS_MS = (100, 250, 500, 1000)


@dataclass(frozen=True, slots=True)
class Metric:
    """One number: what it is, in which unit, when it does not exist, and who defines it so.

    `values` maps rows of `requests` to one number per row (NaN = undefined); None for metrics of
    gaps or of the whole system, which levels.py computes from events and counts.
    """

    name: str
    title: str
    unit: Literal["ms", "tok/s", "req/s", "streams", "%"]
    better: Literal["lower", "higher", "neither"]
    per: Literal["request", "gap", "system"]
    formula: str
    undefined_when: str
    source: str
    values: Callable[[pd.DataFrame], Floats] | None = None
    open_loop_only: bool = False


def _stall(limit_ms: int) -> Metric:
    return Metric(
        name=f"stall_share_{limit_ms}",
        title=f"Gaps over {limit_ms:,} ms",
        unit="%",
        better="lower",
        per="gap",
        formula=f"chunk gaps longer than {limit_ms:,} ms ÷ all chunk gaps",
        undefined_when="no request has two chunks",
        source="Headway; the whole stage, limits accurate to 1 % (log buckets)",
    )


_ALL = (
    Metric(
        name="ttft",
        title="Time to first token",
        unit="ms",
        better="lower",
        per="request",
        formula="first_token − send (reasoning, content or tool; role-only and empty never count)",
        undefined_when="no token arrived",
        source="docs/glossary.md; SGLang, AIPerf and GuideLLM agree, vLLM counts any chunk",
        values=per_request.ttft_ms,
    ),
    Metric(
        name="ttft_visible",
        title="Time to first visible token",
        unit="ms",
        better="lower",
        per="request",
        formula="first content, refusal or tool token − send",
        undefined_when="the answer ended while the model was still reasoning",
        source="AIPerf's TTFO, GuideLLM's TTFOT",
        values=per_request.ttft_visible_ms,
    ),
    Metric(
        name="ttft_sched",
        title="TTFT from schedule",
        unit="ms",
        better="lower",
        per="request",
        formula="first_token − due",
        undefined_when="closed loop (nothing was due), or no token arrived",
        source="MLPerf loadgen; wrk2 on coordinated omission",
        values=per_request.ttft_sched_ms,
        open_loop_only=True,
    ),
    Metric(
        name="e2e",
        title="End-to-end latency",
        unit="ms",
        better="lower",
        per="request",
        formula="last_token − send (an answer in one piece: its last byte − send)",
        undefined_when="no token arrived, nor an answer in one piece",
        source="docs/glossary.md; vLLM and AIPerf agree",
        values=per_request.e2e_ms,
    ),
    Metric(
        name="e2e_sched",
        title="E2E from schedule",
        unit="ms",
        better="lower",
        per="request",
        formula="last_token − due (an answer in one piece: its last byte − due)",
        undefined_when="closed loop (nothing was due), or no answer arrived",
        source="MLPerf loadgen; wrk2 on coordinated omission",
        values=per_request.e2e_sched_ms,
        open_loop_only=True,
    ),
    Metric(
        name="tpot",
        title="Time per output token",
        unit="ms",
        better="lower",
        per="request",
        formula="(last_token − first_token) ÷ (output_tokens − tokens in the first chunk)",
        undefined_when=(
            "output_tokens is unknown, all of them came in the first chunk, or the request had "
            "several choices (n > 1)"
        ),
        source="vLLM, SGLang, inference-perf, MLPerf; AIPerf calls it ITL",
        values=per_request.tpot_ms,
    ),
    Metric(
        name="chunk_gap",
        title="Chunk gap",
        unit="ms",
        better="lower",
        per="gap",
        formula="time between successive chunks of a request; each gap counts once",
        undefined_when="no request has two chunks",
        source="docs/glossary.md; vLLM calls it ITL, AIPerf ICL",
    ),
    Metric(
        name="itl",
        title="Inter-token latency",
        unit="ms",
        better="lower",
        per="gap",
        formula="chunk gap ÷ tokens in the later chunk, weighted by those tokens",
        undefined_when="the tokens in each chunk are not known: then only the chunk gap exists",
        source="Headway: a gap is spread over the tokens that it brought",
    ),
    *(_stall(limit_ms) for limit_ms in STALLS_MS),
    Metric(
        name="tps_e2e",
        title="Output TPS, end to end",
        unit="tok/s",
        better="higher",
        per="request",
        formula="output_tokens ÷ E2E",
        undefined_when="output_tokens is unknown, or E2E is undefined",
        source="AIPerf's e2e_output_token_throughput",
        values=per_request.tps_e2e,
    ),
    Metric(
        name="tps_decode",
        title="Output TPS, decode per user",
        unit="tok/s",
        better="higher",
        per="request",
        formula="1 ÷ TPOT",
        undefined_when="TPOT is undefined or 0",
        source="AIPerf's output TPS per user",
        values=per_request.tps_decode,
    ),
    Metric(
        name="send_lag",
        title="Send lag",
        unit="ms",
        better="lower",
        per="request",
        formula="send − due: the load generator's own lateness",
        undefined_when="closed loop, or never sent",
        source="docs/glossary.md; inference-perf's schedule_delay",
        values=per_request.send_lag_ms,
        open_loop_only=True,
    ),
    Metric(
        name="connect",
        title="Connect",
        unit="ms",
        better="lower",
        per="request",
        formula="DNS + TCP + TLS of a connection opened for the request",
        undefined_when="the request used a connection that was open already",
        source="Headway",
        values=per_request.connect_ms,
    ),
    Metric(
        name="server_queue",
        title="Server's queue, as it tells",
        unit="ms",
        better="lower",
        per="request",
        formula="the wait told in the answer (vLLM's queue_time_ms, Ollama's load_duration)",
        undefined_when="the server does not tell it",
        source="the server's own word; not checked by Headway",
        values=per_request.server_queue_ms,
    ),
    Metric(
        name="server_prefill",
        title="Server's prefill, as it tells",
        unit="ms",
        better="lower",
        per="request",
        formula=(
            "the prompt's processing time told in the answer (llama.cpp's prompt_ms, Ollama's "
            "prompt_eval_duration, vLLM's time_to_first_token_ms, which holds no queue)"
        ),
        undefined_when="the server does not tell it",
        source="the server's own word; not checked by Headway",
        values=per_request.server_prefill_ms,
    ),
    Metric(
        name="tps_system",
        title="System output TPS",
        unit="tok/s",
        better="higher",
        per="system",
        formula="output tokens that arrived within the window ÷ its length, failed requests too",
        undefined_when="no token arrived, or no request of the level tells its output_tokens",
        source="Headway; never the configured duration, never whole requests only",
    ),
    Metric(
        name="tps_input",
        title="System input TPS",
        unit="tok/s",
        better="higher",
        per="system",
        formula="prompt tokens of the answers that began within the window ÷ its length",
        undefined_when="no answer began within the window, or one does not tell its prompt_tokens",
        source="Headway; cached prompt tokens count. What an embeddings endpoint is measured by",
    ),
    Metric(
        name="request_rate",
        title="Completed requests",
        unit="req/s",
        better="higher",
        per="system",
        formula="answers whose last arrival (token or whole) lies within the window ÷ its length",
        undefined_when="never",
        source="Headway",
    ),
    Metric(
        name="offered_rate",
        title="Offered requests",
        unit="req/s",
        better="neither",
        per="system",
        formula="requests due (closed loop: sent) within the window ÷ its length",
        undefined_when="never",
        source="Headway; offered above completed is overload",
    ),
    Metric(
        name="goodput",
        title="Goodput",
        unit="req/s",
        better="higher",
        per="system",
        formula="requests of the window that met every SLO that applies to them ÷ its length",
        undefined_when="the plan has no SLO",
        source="Hao AI Lab, DistServe (2024); open loop counts from schedule",
    ),
    Metric(
        name="mean_in_flight",
        title="Mean streams in flight",
        unit="streams",
        better="neither",
        per="system",
        formula="∫ (requests sent and not ended) dt over the window ÷ its length; measured",
        undefined_when="never",
        source="Headway",
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
