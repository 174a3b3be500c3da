"""Streams of our own bytes, and one exchange decoded from reads at given milliseconds."""

import json
from typing import Any

import numpy as np

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import KINDS, RequestRow

MS = 1_000_000
T0_NS = 5_000_000_000  # time zero of the run on the monotonic line
SEND_NS = T0_NS + 1000 * MS  # every request is sent at 1 s

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def sse(chunk: Any) -> bytes:
    return (
        b"data: " + json.dumps(chunk, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
    )


def delta(fields: Any, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return sse({"id": "own-1", "choices": [choice], **more})


def content(text: str, **more: Any) -> bytes:
    return delta({"content": text}, **more)


def usage(n: int) -> dict[str, int]:
    return {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n}


def usage_event(n: int) -> bytes:
    return sse({"id": "own-1", "choices": [], "usage": usage(n)})


ROLE = delta({"role": "assistant", "content": ""})
FINISH = delta({}, "stop")


def chunk(body: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(body), body)


END = b"0\r\n\r\n"


def open_meta(api: str = "openai_chat", **more: Any) -> dict[str, Any]:
    meta = {"request_id": 7, "x_request_id": "run-7", "worker": 0, "stage": 2, "phase": "measure"}
    meta |= {"api": api, "due_ns": None, "dispatched_ns": SEND_NS, "send_ns": SEND_NS}
    return {**meta, "prompt_tokens_planned": 5, "max_tokens": 8, **more}


def close_meta(cause: str = "done", end_ms: float = 60_000, **more: Any) -> dict[str, Any]:
    end = {"end_ns": SEND_NS + round(end_ms * MS), "cause": cause, "detail": None}
    end |= {"conn_reused": True, "reconnects": 0, "dns_ns": None, "connect_ns": None}
    return {**end, "tls_ns": None, **more}


class Decoded:
    """A row and its token events; times in ms after the request was sent."""

    def __init__(self, row: RequestRow, tokens: np.ndarray) -> None:
        self.row = row
        self.tokens = tokens
        self.kinds = [KINDS[k] for k in tokens["kind"]]
        self.ms = [(t - 1_000_000) / 1000 for t in tokens["t_us"].tolist()]
        self.gaps_ms = [gap / 1000 for gap in tokens["gap_us"].tolist()[1:]]
        self.n_tokens = tokens["n_tokens"].tolist()
        self.shared = tokens["shared"].tolist()
        self.bounds_us = tokens["bound_us"].tolist()

    @property
    def ttft_ms(self) -> float | None:
        first_us = self.row.first_token_us
        return None if first_us is None else (first_us - 1_000_000) / 1000


def decode_reads(
    reads: list[tuple[float, bytes]], api: str = "openai_chat", is_learning: bool = True, **end: Any
) -> Decoded:
    """Raw reads at ms after the send, exactly stamped."""
    decoder = ExchangeDecoder(APIS[api], open_meta(api), T0_NS, is_learning)
    for ms, data in reads:
        decoder.read(SEND_NS + round(ms * MS), 0, 0, data)
    row = decoder.close(close_meta(**end))
    return Decoded(row, decoder.take_tokens())


def decode_bodies(*bodies: tuple[float, bytes], **options: Any) -> Decoded:
    """A 200 whose head comes at 1 ms, and body bytes, each in one HTTP chunk and one read."""
    reads = [(1.0, HEAD), *((ms, chunk(body)) for ms, body in bodies)]
    return decode_reads([*reads, (bodies[-1][0] if bodies else 2, END)], **options)
