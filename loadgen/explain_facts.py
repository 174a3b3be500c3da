"""One explained exchange: what was asked, what came when, and what of it is odd."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from loadgen.explain_events import EventLine
from storage.records import RequestRow

Level = Literal["warn", "note"]
"""warn: numbers of a run would mislead, or lack something; note: good to know when reading them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the request wanted, and what is known of the way to the endpoint.

    closes: whether the server closed the connection after its answer although it might have kept
    it; None: nobody looked.
    """

    url: str
    api: str
    model: str
    max_tokens: int
    is_streamed: bool = True
    ignores_eos: bool = False
    has_tokenizer: bool = False  # tokens are counted after the run
    http: str = "1.1"
    proxy: str | None = None
    insecure: bool = False
    dropped_fields: tuple[str, ...] = ()
    closes: bool | None = None


@dataclass(frozen=True, slots=True)
class Phases:
    """ms after the request was sent; None: there was no such instant.

    The first three are durations: the send comes before the connection is opened, so the others
    hold them.  None on a connection that was open already.
    """

    dns_ms: float | None
    connect_ms: float | None
    tls_ms: float | None
    first_byte_ms: float | None
    headers_ms: float | None
    first_event_ms: float | None
    first_token_ms: float | None
    first_visible_ms: float | None
    last_token_ms: float | None
    whole_ms: float | None  # the last byte of an answer in one piece
    end_ms: float


@dataclass(frozen=True, slots=True)
class Gaps:
    """ms between one token event and the next; None where there are less than two."""

    p50_ms: float | None
    max_ms: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Warning:
    """One sentence on what is odd, and what to do about it."""

    name: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """An exchange as a run would have measured it.  kinds: events by kind, as the run counts."""

    asked: Asked
    ok: bool
    row: RequestRow
    phases: Phases
    gaps: Gaps
    events: list[EventLine]
    kinds: dict[str, int]
    n_reads: int
    headers: dict[str, str]  # those worth knowing, names in lower case
    model: str | None  # that the answer names
    usage_contradicts: bool
    max_lag_ms: float | None
    n_clock_steps: int
    body_complete: bool  # the body's own end was seen
    is_http_1_0: bool  # whose connections end with the answer unless it says keep-alive
    warnings: list[Warning] = field(default_factory=list[Warning])
    sentence: str = ""  # of a failure: what happened and what to do

    @property
    def token_lines(self) -> list[EventLine]:
        """The events that carry text."""
        return [line for line in self.events if line.is_token]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        row = self.row
        return {
            "ok": self.ok,
            "outcome": row.outcome,
            "detail": row.detail,
            "sentence": self.sentence,
            "http_status": row.http_status,
            "form": row.form,
            "asked": asdict(self.asked),
            "phases": asdict(self.phases),
            "chunk_gap": asdict(self.gaps),
            "kinds": self.kinds,
            "reads": self.n_reads,
            "bytes": row.bytes_received,
            "tokens": _tokens(row),
            "finish_reason": row.finish_reason,
            "model": self.model,
            "ids": {
                "sent": row.x_request_id,
                "response": row.response_id,
                "server": row.server_request_id,
            },
            "server_ms": {
                name: _ms(us)
                for name, us in (
                    ("queue", row.server_queue_us),
                    ("prefill", row.server_prefill_us),
                    ("decode", row.server_decode_us),
                )
            },
            "stamps": _stamps(row),
            "headers": self.headers,
            "retry_after_s": row.retry_after_s,
            "warnings": [asdict(warning) for warning in self.warnings],
            "events": [asdict(line) for line in self.events],
        }


def _tokens(row: RequestRow) -> dict[str, Any]:
    """Counts and who told them; chunks are the token events, never their number of tokens."""
    return {
        "source": row.token_source,
        "prompt": row.prompt_tokens,
        "cached": row.cached_tokens,
        "output": row.output_tokens,
        "reasoning": row.reasoning_tokens,
        "chunks": row.n_chunks,
        "first_chunk": row.first_chunk_tokens,
        "choices": row.n_choices,
    }


def _stamps(row: RequestRow) -> str | None:
    if row.first_byte_us is None:
        return None
    return "user" if row.n_missing_stamps else "kernel"


def _ms(us: int | None) -> float | None:
    return None if us is None else us / 1000
