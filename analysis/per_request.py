"""Every per-request metric as one function: rows of `requests` in, one number per row out.

Milliseconds or tok/s; NaN where the metric is undefined for that request, never 0.
Rows: storage.records.RequestRow, one per request, times in µs of the run (docs/metrics.md).
"""

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats

US_PER_MS = 1e3
US_PER_S = 1e6
FEWEST_PROMPT_TOKENS = 100  # a TTFT per 1k of fewer is mostly the constant part of TTFT


def ttft_ms(requests: pd.DataFrame) -> Floats:
    """First token-bearing arrival minus send."""
    return _span_ms(requests, "send_us", "first_token_us")


def ttft_visible_ms(requests: pd.DataFrame) -> Floats:
    """First content, refusal or tool arrival minus send: what a reader of the answer waits for."""
    return _span_ms(requests, "send_us", "first_visible_us")


def thinking_ms(requests: pd.DataFrame) -> Floats:
    """First visible token minus first token, of requests that reasoned."""
    span = _span_ms(requests, "first_token_us", "first_visible_us")
    reasoned = (floats(requests, "reasoning_tokens") > 0) | (span > 0)
    return np.where(reasoned, span, np.nan)


def ttft_sched_ms(requests: pd.DataFrame) -> Floats:
    """First token minus due: the wait of a user who came when the plan said."""
    return _span_ms(requests, "due_us", "first_token_us")


def answered_us(requests: pd.DataFrame) -> Floats:
    """Arrival of the last token, or of a whole answer's last byte."""
    last, whole = floats(requests, "last_token_us"), floats(requests, "whole_us")
    return np.where(np.isnan(last), whole, last)


def e2e_ms(requests: pd.DataFrame) -> Floats:
    """The answer's last arrival minus send."""
    return (answered_us(requests) - floats(requests, "send_us")) / US_PER_MS


def e2e_sched_ms(requests: pd.DataFrame) -> Floats:
    """The answer's last arrival minus due."""
    return (answered_us(requests) - floats(requests, "due_us")) / US_PER_MS


def server_queue_ms(requests: pd.DataFrame) -> Floats:
    """What the server itself says that the request waited."""
    return floats(requests, "server_queue_us") / US_PER_MS


def server_prefill_ms(requests: pd.DataFrame) -> Floats:
    """What the server itself says that the prompt took."""
    return floats(requests, "server_prefill_us") / US_PER_MS


def send_lag_ms(requests: pd.DataFrame) -> Floats:
    """Send minus due: the load generator's own lateness."""
    return _span_ms(requests, "due_us", "send_us")


def connect_ms(requests: pd.DataFrame) -> Floats:
    """DNS + TCP + TLS of a connection opened for this request; NaN when one was reused."""
    phases = np.column_stack([floats(requests, c) for c in ("dns_us", "connect_us", "tls_us")])
    opened = ~np.isnan(phases).all(axis=1)
    return np.where(opened, np.nansum(phases, axis=1), np.nan) / US_PER_MS


def ttft_noconn_ms(requests: pd.DataFrame) -> Floats:
    """TTFT less the time to connect; NaN where nobody knows whether a connection was opened."""
    connect, ttft = connect_ms(requests), ttft_ms(requests)
    reused = np.isnan(connect) & (floats(requests, "conn_reused") > 0)
    return ttft - np.where(reused, 0.0, connect)


def dispatch_ms(requests: pd.DataFrame) -> Floats:
    """Dispatched minus due: until a load worker took the request up."""
    return _span_ms(requests, "due_us", "dispatched_us")


def client_queue_ms(requests: pd.DataFrame) -> Floats:
    """Send minus dispatched: the wait within the load worker."""
    return _span_ms(requests, "dispatched_us", "send_us")


def close_ms(requests: pd.DataFrame) -> Floats:
    """End of the stream minus the answer's last arrival."""
    return (floats(requests, "end_us") - answered_us(requests)) / US_PER_MS


def ttft_per_1k(requests: pd.DataFrame) -> Floats:
    """TTFT per thousand prompt tokens, of prompts of FEWEST_PROMPT_TOKENS or more; ms."""
    return _per_1k(ttft_ms(requests), floats(requests, "prompt_tokens"))


def ttft_per_1k_uncached(requests: pd.DataFrame) -> Floats:
    """The same by the prompt tokens that came from no cache; NaN where the server is silent."""
    computed = floats(requests, "prompt_tokens") - floats(requests, "cached_tokens")
    return _per_1k(ttft_ms(requests), computed)


def tpot_ms(requests: pd.DataFrame) -> Floats:
    """(last token - first token) / (output tokens - tokens in the first chunk).

    The first chunk counts as one token where the server does not tell (`first_chunk_assumed`).
    Undefined for several choices at once: their tokens come side by side, not one after another.
    """
    rest = np.where(floats(requests, "n_choices") > 1, 0.0, _tokens_after_first_chunk(requests))
    decode_ms = _span_ms(requests, "first_token_us", "last_token_us")
    return np.divide(decode_ms, rest, out=np.full(len(requests), np.nan), where=rest >= 1)


def first_chunk_assumed(requests: pd.DataFrame) -> int:
    """How many requests with a TPOT had to take their first chunk for one token."""
    unknown = np.isnan(floats(requests, "first_chunk_tokens"))
    return int(np.sum(unknown & ~np.isnan(tpot_ms(requests))))


def tps_decode(requests: pd.DataFrame) -> Floats:
    """1 / TPOT: the pace one user sees once the answer flows, tok/s."""
    tpot = tpot_ms(requests)
    return np.divide(1e3, tpot, out=np.full(len(requests), np.nan), where=tpot > 0)


def tps_e2e(requests: pd.DataFrame) -> Floats:
    """Output tokens / E2E, tok/s."""
    seconds = e2e_ms(requests) / 1e3
    tokens = floats(requests, "output_tokens")
    return np.divide(tokens, seconds, out=np.full(len(requests), np.nan), where=seconds > 0)


def _per_1k(ms: Floats, tokens: Floats) -> Floats:
    enough = tokens >= FEWEST_PROMPT_TOKENS
    return np.divide(1e3 * ms, tokens, out=np.full(len(ms), np.nan), where=enough)


def _tokens_after_first_chunk(requests: pd.DataFrame) -> Floats:
    first = floats(requests, "first_chunk_tokens")
    return floats(requests, "output_tokens") - np.where(np.isnan(first), 1.0, first)


def _span_ms(requests: pd.DataFrame, begin: str, end: str) -> Floats:
    return (floats(requests, end) - floats(requests, begin)) / US_PER_MS
