"""One streamed request before the load: is the endpoint there, does it speak as the plan says?"""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from loadgen.exchange import ExchangeDecoder
from loadgen.plan import Plan
from loadgen.redact import redactor
from loadgen.schedule import PlannedRequest
from loadgen.sender import Sender
from loadgen.wire.registry import APIS
from storage.records import RequestRow

MAX_TOKENS = 16

WHAT_TO_DO = {
    "http_error": "Check target.url, target.api and target.model.",
    "rate_limited": "Wait, or ask for a higher limit; a load test needs one.",
    "stream_error": "See the server's own log.",
    "empty": "The answer held no token: check target.model and target.api.",
    "malformed": "This does not look like the API named by target.api.",
    "truncated": "The server, or a proxy before it, cut the stream.",
    "reset": "The server, or a proxy before it, cut the connection.",
    "timeout": "Raise limits.silence_s or limits.request_s if the server is just slow.",
}


@dataclass(slots=True)
class MemorySpool:
    """The raw spool's methods, kept in memory for one exchange."""

    opened: dict[str, Any] = field(default_factory=dict[str, Any])
    reads: list[tuple[int, int, int, bytes]] = field(default_factory=list[Any])
    closed: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep the OPEN record."""
        del request_id, mono_ns
        self.opened = dict(meta)

    def read(self, request_id: int, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """Keep one READ record."""
        del request_id
        self.reads.append((mono_ns, delay_ns, poll_ns, bytes(data)))

    def close(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep the CLOSE record."""
        del request_id, mono_ns
        self.closed = dict(meta)

    def tick(self, now_ns: int) -> None:
        """Nothing grows old in memory."""
        del now_ns


@dataclass(frozen=True, slots=True)
class Preflight:
    """What one request showed."""

    ok: bool
    sentence: str
    row: RequestRow
    stamps: Literal["kernel", "user"] | None  # None: not a byte came

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, for run.json."""
        return {**asdict(self), "row": self.row.to_dict()}


def preflight(plan: Plan, run: dict[str, Any]) -> Preflight:
    """Send one short request as the run would; run needs run_uid, target_url and t0_mono_ns."""
    spool = MemorySpool()
    sender = Sender(plan, run, 0, spool)
    planned = PlannedRequest(
        request_id=0,
        stage=0,
        due_ns=None,
        prompt="Count from one to ten.",
        prompt_tokens=5,
        max_tokens=min(MAX_TOKENS, plan.workload.output_tokens),
        ignore_eos=plan.workload.ignore_eos,
    )
    sender.send(planned, None, phase="preflight")
    sender.pool.close()
    decoder = ExchangeDecoder(APIS[plan.target.api], spool.opened, run["t0_mono_ns"])
    for read in spool.reads:
        decoder.read(*read)
    row = decoder.close(spool.closed)
    row.detail = redactor(plan.target.api_key_env)(row.detail)
    return Preflight(
        ok=row.outcome == "complete",
        sentence=_sentence(plan, run, row),
        row=row,
        stamps=_stamps(spool),
    )


def _stamps(spool: MemorySpool) -> Literal["kernel", "user"] | None:
    if not spool.reads:
        return None
    return "kernel" if all(delay_ns >= 0 for _, delay_ns, _, _ in spool.reads) else "user"


def _sentence(plan: Plan, run: dict[str, Any], row: RequestRow) -> str:
    where = run["target_url"]
    if row.outcome == "complete":
        return f"{where} answers: {row.n_chunks} token events in one short request."
    status = f" with HTTP {row.http_status}" if (row.http_status or 200) >= 300 else ""
    said = f": {row.detail.rstrip('.')}." if row.detail else "."
    todo = WHAT_TO_DO.get(row.outcome, "")
    if row.http_status in (401, 403):
        key = plan.target.api_key_env
        todo = (
            f"Check the key in the environment variable {key}."
            if key
            else "It wants a key: name the environment variable that holds it (target.api_key_env)."
        )
    verb = "cannot be reached" if row.outcome == "connect_failed" else "failed the first request"
    return f"{where} {verb}{status}{said} {todo}".strip()
