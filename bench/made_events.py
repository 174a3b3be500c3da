"""Token events as a busy server makes them: 512 streams, lognormal gaps, stalls and bursts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from storage.records import TOKEN_EVENT, RequestRow

STREAMS, N_TOKENS, WORKERS = 512, 250, 2
GAP_US, STALL_US, TTFT_US = 9_500, 150_000, 120_000
STALL_SHARE, BURST_SHARE, SHARED_SHARE = 0.02, 0.03, 0.01
US_PER_S = 1_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """What one worker's decoder writes for one second."""

    worker: int
    seq: int
    tokens: np.ndarray  # TOKEN_EVENT
    requests: list[RequestRow]


def segments(n_events: int, seed: int) -> Iterator[Segment]:
    """About `n_events`, in segments of a second per worker; each stream asks again when it ends."""
    rng = np.random.default_rng(seed)
    free_us = np.zeros(STREAMS)
    waiting = np.zeros(0, TOKEN_EVENT)
    ended: list[RequestRow] = []
    rounds = max(1, n_events // (STREAMS * N_TOKENS))
    seq = 0
    for turn in range(rounds):
        tokens, requests, free_us = _round(rng, turn, free_us)
        waiting = np.concatenate([waiting, tokens])
        ended += requests
        is_last = turn == rounds - 1
        upto_us = math.inf if is_last else int(free_us.min()) // US_PER_S * US_PER_S
        ready = waiting["t_us"] < upto_us
        now, waiting = waiting[ready], waiting[~ready]
        done = [r for r in ended if r.end_us < upto_us]
        ended = [r for r in ended if r.end_us >= upto_us]
        for found in _by_second(now, done, seq):
            yield found
            seq = max(seq, found.seq + 1)


def _round(
    rng: np.random.Generator, turn: int, free_us: np.ndarray
) -> tuple[np.ndarray, list[RequestRow], np.ndarray]:
    shape = (STREAMS, N_TOKENS)
    gaps = rng.lognormal(math.log(GAP_US), 0.35, shape)
    kind = rng.random(shape)
    stalled, burst = kind < STALL_SHARE, kind > 1 - BURST_SHARE
    gaps[stalled] = rng.lognormal(math.log(STALL_US), 0.5, int(stalled.sum()))
    gaps[burst] = rng.integers(1, 60, int(burst.sum()))
    gaps[:, 0] = rng.lognormal(math.log(TTFT_US), 0.3, STREAMS)
    t_us = (free_us[:, None] + np.cumsum(gaps, axis=1)).astype(np.int64)
    tokens = np.zeros(shape, TOKEN_EVENT)
    ids = turn * STREAMS + np.arange(STREAMS)
    tokens["request_id"], tokens["seq"] = ids[:, None], np.arange(N_TOKENS)
    tokens["t_us"] = t_us
    tokens["gap_us"][:, 1:] = np.diff(t_us, axis=1)
    tokens["gap_us"][:, 0] = -1
    tokens["lag_us"] = rng.integers(5, 300, shape)
    tokens["shared"] = rng.random(shape) < SHARED_SHARE
    tokens["bound_us"] = tokens["shared"] * rng.integers(1, 400, shape)
    requests = [
        _request(int(ids[k]), int(free_us[k]), int(t_us[k, 0]), int(t_us[k, -1]))
        for k in range(STREAMS)
    ]
    return tokens.ravel(), requests, t_us[:, -1] + 500.0


def _request(request_id: int, send_us: int, first_us: int, last_us: int) -> RequestRow:
    return RequestRow(
        request_id=request_id,
        x_request_id=f"0190a0c0-0000-7000-8000-0000000000aa-{request_id}",
        worker=request_id % WORKERS,
        stage=0,
        phase="measure",
        outcome="complete",
        dispatched_us=send_us,
        send_us=send_us,
        conn_reused=True,
        first_byte_us=first_us - 400,
        headers_us=first_us - 400,
        first_token_us=first_us,
        first_visible_us=first_us,
        last_token_us=last_us,
        end_us=last_us + 400,
        http_status=200,
        finish_reason="length",
        response_id=f"chatcmpl-{request_id * 0x9E3779B97F4A7C15 % 2**64:016x}",
        prompt_tokens=1000 + request_id % 500,
        output_tokens=N_TOKENS,
        token_source="usage",
        prompt_tokens_planned=1000,
        max_tokens=N_TOKENS,
        n_chunks=N_TOKENS,
        first_chunk_tokens=None,
        other_events={"role": 1, "usage": 1},
        n_shared=2,
        bytes_received=60_000,
        form="stream",
        n_choices=1,
    )


def _by_second(tokens: np.ndarray, requests: list[RequestRow], seq: int) -> Iterator[Segment]:
    """Whole seconds, each worker's events apart, in order of arrival."""
    second = tokens["t_us"] // US_PER_S
    for step, at in enumerate(np.unique(second).tolist()):
        here = tokens[second == at]
        ended: list[Any] = [r for r in requests if r.end_us // US_PER_S == at]
        for worker in range(WORKERS):
            mine = here[here["request_id"] % WORKERS == worker]
            yield Segment(
                worker,
                seq + step,
                mine.take(np.argsort(mine["t_us"], kind="stable")),
                [r for r in ended if r.worker == worker],
            )
