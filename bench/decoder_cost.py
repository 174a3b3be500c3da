"""What does decoding one event cost?  In the run beside the load, and alone on one core."""

import json
import time
from typing import Any

from bench import truth_script
from bench.client_error import run_at
from bench.figures import Figure
from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS

CONCURRENCY, N_STREAMS, N_TOKENS = 512, 200, 128


def decoder_cost(turn: int) -> list[Figure]:
    """Decoder CPU per event beside 512 streams x 50 tok/s; over json.loads of the same events."""
    beside_us = run_at(CONCURRENCY, turn).cpu_us_per_event("decoder")
    pieces = list(truth_script.answer("/v1/chat/completions", b"{}", _timing()).pieces())
    alone_us, json_us = _alone_us([p for _, p in pieces]), _json_us([p for _, p in pieces])
    return [
        Figure("decoder CPU per event beside the load", beside_us, "µs", "<= 8"),
        Figure("decoding alone, per event", alone_us, "µs"),
        Figure("decoding alone over json.loads", alone_us / json_us, "x"),
    ]


def _timing() -> truth_script.Timing:
    return truth_script.Timing(n=N_TOKENS)


def _alone_us(reads: list[bytes]) -> float:
    """ExchangeDecoder in this process, one read per event, streams one after another."""
    begin_s, n_tokens = time.process_time(), 0
    for request_id in range(N_STREAMS):
        decoder = ExchangeDecoder(APIS["openai_chat"], _open_meta(request_id), 0)
        for k, data in enumerate(reads):
            decoder.read(k * 20_000_000, 5_000, k * 20_000_000 - 50_000, data)
        row = decoder.close(_close_meta(len(reads) * 20_000_000))
        n_tokens += len(decoder.take_tokens())
        assert row.outcome == "complete", row
    assert n_tokens == N_STREAMS * N_TOKENS
    return (time.process_time() - begin_s) * 1e6 / n_tokens


def _json_us(reads: list[bytes]) -> float:
    documents = [r.split(b"data: ", 1)[1].split(b"\n\n")[0] for r in reads[1 : N_TOKENS + 1]]
    begin_s = time.process_time()
    for _ in range(N_STREAMS):
        for document in documents:
            json.loads(document)
    return (time.process_time() - begin_s) * 1e6 / (N_STREAMS * N_TOKENS)


def _open_meta(request_id: int) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "x_request_id": f"bench-{request_id}",
        "worker": 0,
        "stage": 0,
        "phase": "measure",
        "api": "openai_chat",
        "due_ns": None,
        "dispatched_ns": 0,
        "send_ns": 0,
        "prompt_tokens_planned": 64,
        "max_tokens": N_TOKENS,
    }


def _close_meta(end_ns: int) -> dict[str, Any]:
    return {
        "end_ns": end_ns,
        "cause": "done",
        "detail": None,
        "conn_reused": True,
        "reconnects": 0,
        "dns_ns": None,
        "connect_ns": None,
        "tls_ns": None,
    }
