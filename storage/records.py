"""The records between what we saw and every number: request rows, token events, pulses, stages.

Times are integers.  In a load worker they are ns on the host's monotonic line; at the spool they
are floored to µs counted from the run's time zero, and from there on every name ends in `_us`.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

Outcome = Literal[
    "complete",
    "truncated",
    "http_error",
    "rate_limited",
    "stream_error",
    "empty",
    "malformed",
    "connect_failed",
    "reset",
    "timeout",
    "cancelled",
    "not_sent",
]
OUTCOMES: tuple[str, ...] = Outcome.__args__  # type: ignore[attr-defined]

TERMINAL = frozenset({"finished", "stopped", "failed", "interrupted"})
"""States of a run that the load generator never leaves again."""

TokenSource = Literal["usage", "usage_continuous", "tokenizer", "chunks"]

KINDS: tuple[str, ...] = ("content", "reasoning", "refusal", "tool")
"""Kinds of a token event; its number in `TOKEN_EVENT.kind` is the index here."""

TOKEN_EVENT = np.dtype(
    [
        ("request_id", "<i4"),
        ("seq", "<i4"),  # 0 for the first token event of the request
        ("t_us", "<i8"),  # arrival, µs from the run's time zero
        ("gap_us", "<i4"),  # difference of stored t_us within one choice; -1 on its first event
        ("n_tokens", "<u2"),  # tokens in this chunk where the server tells; 0 = unknown
        ("kind", "u1"),  # index into KINDS
        ("shared", "u1"),  # 1: its read held a later token too, or later bytes that piled up
        ("lag_us", "<i4"),  # read minus arrival; -1 = no kernel stamp (arrival is the read time)
        ("bound_us", "<i4"),  # so much earlier at most it came; 0 unless shared or unstamped
    ]
)
"""One token event as the decoder writes it to a column segment."""


@dataclass(slots=True)
class RequestRow:
    """One request as the client saw it; the row of `requests` in docs/schema.md.

    due <= dispatched <= send <= first_byte <= end.  None is "no such thing", never 0.
    """

    request_id: int
    x_request_id: str
    worker: int
    stage: int
    phase: Literal["preflight", "warmup", "measure", "drain"]
    outcome: Outcome
    dispatched_us: int
    end_us: int
    due_us: int | None = None  # the plan's instant; None in closed loop
    send_us: int | None = None  # None when not_sent
    conn_reused: bool | None = None
    reconnects: int = 0  # stale keep-alive connections replaced before this request was sent
    dns_us: int | None = None  # durations of a new connection's phases
    connect_us: int | None = None
    tls_us: int | None = None
    first_byte_us: int | None = None
    headers_us: int | None = None  # the read that completed the response head
    first_token_us: int | None = None
    first_visible_us: int | None = None  # first content, refusal or tool token event
    last_token_us: int | None = None
    http_status: int | None = None
    finish_reason: str | None = None
    detail: str | None = None  # the server's own sentence, or what went wrong
    response_id: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    token_source: TokenSource | None = None
    prompt_tokens_planned: int | None = None
    max_tokens: int | None = None
    n_chunks: int = 0  # token events
    first_chunk_tokens: int | None = None
    other_events: dict[str, int] = field(default_factory=dict[str, int])  # role, empty, usage, …
    n_shared: int = 0
    n_missing_stamps: int = 0  # reads without a kernel stamp
    bytes_received: int = 0
    form: Literal["stream", "whole"] | None = None  # how the answer came; None: none came
    whole_us: int | None = None  # arrival of the last byte of an answer that came in one piece
    coding: str | None = None  # content-encoding, if the body was compressed
    retry_after_s: float | None = None  # of a 429 or 503
    server_request_id: str | None = None  # the id the server's own log knows the request by
    server_queue_us: int | None = None  # as the server tells, as are the two below
    server_prefill_us: int | None = None
    server_decode_us: int | None = None
    tokenizer_tokens: int | None = None  # of the answer's text, counted after the run
    n_choices: int = 0
    traffic_class: str = "default"
    target: str = "main"  # the plan's name of the endpoint
    conversation: int | None = None  # its number within the level; None: a request of its own
    turn: int | None = None  # of the conversation, from 0
    prefix_group: int | None = None  # which shared prefix the prompt begins with; None: none
    prompt_no: int | None = None  # identity of a prompt that may come again; None: sent once only

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values, keys in the order above."""
        return asdict(self)


@dataclass(slots=True)
class Pulse:
    """One second of one load worker: is the load generator itself healthy?  Times in µs."""

    worker: int
    t_us: int
    stage: int
    in_flight: int
    sent: int  # since the run began, as are done, failed, not_sent
    done: int
    failed: int
    not_sent: int
    reads: int  # in this second, as is everything below
    missing_stamps: int
    read_lag_p50_us: int | None  # read time minus kernel stamp
    read_lag_p99_us: int | None
    read_lag_max_us: int | None
    send_lag_p99_us: int | None  # send minus due (open loop)
    send_lag_max_us: int | None
    hub_late_max_us: int | None  # how late a 50 ms tick of the event loop came
    gc_pause_max_us: int | None
    cpu_share: float  # of one core
    rss_bytes: int
    backlog_bytes: int  # raw bytes on disk not yet decoded
    connects: int = 0  # connections opened in this second
    connect_p50_us: int | None = None  # their TCP handshakes
    rtt_p50_us: int | None = None  # the kernel's own estimate (TCP_INFO), of a few connections
    dispatch_lag_p99_us: int | None = None  # dispatched minus due (open loop)


@dataclass(slots=True)
class StageRow:
    """One load level as it happened; µs from the run's time zero.

    stage: the level's number in the run; one stage of a plan may become several levels.
    """

    stage: int
    name: str  # "c=16" or "5/s"
    kind: Literal["closed", "open", "replay", "idle"]
    concurrency: int | None  # the most at once, where it changes
    rate_per_s: float | None  # None also where it changes: `load` has the shape
    begin_us: int  # requests may be issued from here
    issue_end_us: int | None  # no request was issued after this
    end_us: int | None  # every stream of the stage had ended
    load: dict[str, Any] = field(default_factory=dict[str, Any])  # as the workers were told it
    asked: int = 0  # index into the plan's stages
    why: str | None = None  # what a level is for that the plan does not list: "probe 3: c=12"
