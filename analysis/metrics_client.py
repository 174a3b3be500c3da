"""Entries of METRICS per request: where its time went, by our clock and by the server's word."""

from analysis import per_request as of
from analysis.metric import Metric

_WORD = "the server's own word; not checked by Headway"

CLIENT = (
    Metric(
        name="send_lag",
        title="Send lag",
        unit="ms",
        better="lower",
        per="request",
        formula="send − due: the load generator's own lateness",
        sql="send_lag_us / 1e3",
        undefined_when="closed loop, or never sent",
        source="docs/glossary.md; inference-perf's schedule_delay",
        values=of.send_lag_ms,
        is_headline=True,
        is_ours=True,
        open_loop_only=True,
    ),
    Metric(
        name="dispatch",
        title="Dispatch",
        unit="ms",
        better="lower",
        per="request",
        formula="dispatched − due: until a load worker took the request up",
        sql="dispatch_us / 1e3",
        undefined_when="closed loop",
        source="Headway; the first part of send lag",
        values=of.dispatch_ms,
        is_ours=True,
        open_loop_only=True,
    ),
    Metric(
        name="client_queue",
        title="Client queue",
        unit="ms",
        better="lower",
        per="request",
        formula="send − dispatched: waiting in the load worker, for a connection for example",
        sql="client_queue_us / 1e3",
        undefined_when="never sent",
        source="Headway, the rest of send lag; vLLM bench's client_queue_time",
        values=of.client_queue_ms,
        is_ours=True,
    ),
    Metric(
        name="connect",
        title="Connect",
        unit="ms",
        better="lower",
        per="request",
        formula="DNS + TCP + TLS of a connection opened for the request",
        sql=(
            "CASE WHEN coalesce(dns_us, connect_us, tls_us) IS NOT NULL THEN "
            "(coalesce(dns_us, 0) + coalesce(connect_us, 0) + coalesce(tls_us, 0)) / 1e3 END"
        ),
        undefined_when="the request used a connection that was open already",
        source="Headway",
        values=of.connect_ms,
        is_headline=True,
        is_ours=True,
    ),
    Metric(
        name="close",
        title="Close time",
        unit="ms",
        better="lower",
        per="request",
        formula="end − last_token (an answer in one piece: end − its last byte)",
        sql="(end_us - coalesce(last_token_us, whole_us)) / 1e3",
        undefined_when="no answer arrived",
        source="Headway; SGLang, GuideLLM and llmperf count it into E2E",
        values=of.close_ms,
        is_ours=True,
    ),
    Metric(
        name="server_queue",
        title="Server's queue, as it tells",
        unit="ms",
        better="lower",
        per="request",
        formula="the wait told in the answer (vLLM's queue_time_ms, Ollama's load_duration)",
        sql="server_queue_us / 1e3",
        undefined_when="the server does not tell it",
        source=_WORD,
        values=of.server_queue_ms,
        is_headline=True,
        is_ours=True,
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
        sql="server_prefill_us / 1e3",
        undefined_when="the server does not tell it",
        source=_WORD,
        values=of.server_prefill_ms,
        is_headline=True,
        is_ours=True,
    ),
)
