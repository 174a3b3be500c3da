"""One short request before the load: is the endpoint there, does it speak as the plan says?

An endpoint that refuses a field the run can do without is asked again without it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import orjson

from loadgen.advice import advice
from loadgen.memory_spool import MemorySpool
from loadgen.plan import Plan
from loadgen.plan_lengths import mean_of
from loadgen.redact import redactor
from loadgen.refused_fields import OPTIONAL, refused_fields
from loadgen.schedule import PlannedRequest
from loadgen.sender import Sender
from loadgen.target import target_endpoint, version_after_failure
from loadgen.transport.endpoint import HttpVersion
from loadgen.wire.registry import APIS
from storage.records import RequestRow

PROMPT = "Count from one to ten."
MAX_TOKENS = 16
MOST_TRIES = 3
UNLIKE_HTTP_1 = ("malformed", "reset")  # what comes of HTTP/1.1 where only HTTP/2 is spoken

Watch = Callable[[Sender, MemorySpool], None]
"""Sees each request once it has ended, its connection still open."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """What one request showed; `sentence` holds the notes too."""

    ok: bool
    sentence: str
    row: RequestRow
    stamps: Literal["kernel", "user"] | None  # None: not a byte came
    http: HttpVersion = "1.1"
    dropped_fields: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])  # what the run's numbers will lack

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, for run.json."""
        return {**asdict(self), "row": self.row.to_dict()}


@dataclass(frozen=True, slots=True)
class _Try:
    row: RequestRow
    stamps: Literal["kernel", "user"] | None
    refused: list[str]


def _nobody(_sender: Sender, _spool: MemorySpool) -> None:
    pass


def preflight(
    plan: Plan,
    run: dict[str, Any],
    watch: Watch = _nobody,
    most_tokens: int = MAX_TOKENS,
    traffic: int = 0,
) -> Preflight:
    """Send one short request as the run would; run needs run_uid, target_url and t0_mono_ns.

    traffic: of which class of the plan; run: what is known of that class's target.
    run["http"] is asked for where it is missing.  A server without TLS that speaks HTTP/2 only
    shows that by its answer to HTTP/1.1, and is asked again.
    """
    asking = _Asking(plan, traffic, watch, most_tokens)
    target = asking.target
    endpoint, _ = target_endpoint(target, run, asking.api.path)
    seen = asking.negotiate({**run, "http": endpoint.http})
    if seen.row.outcome not in UNLIKE_HTTP_1:
        return seen
    version = version_after_failure(target, endpoint)
    if version == endpoint.http:
        return seen
    return asking.negotiate({**run, "http": version})


class _Asking:
    """One class's first request."""

    def __init__(self, plan: Plan, traffic: int, watch: Watch, most_tokens: int) -> None:
        one = plan.traffic()[traffic]
        self.target = plan.target_of(one)
        self.api = APIS[self.target.api]
        self._plan, self._traffic, self._work = plan, traffic, one.workload
        self._watch, self._most_tokens = watch, most_tokens

    def negotiate(self, run: dict[str, Any]) -> Preflight:
        """The first request, again without what was refused."""
        dropped: list[str] = []
        seen = self._ask(run, dropped)
        for _ in range(MOST_TRIES - 1):
            if not seen.refused:
                break
            dropped += seen.refused
            seen = self._ask(run, dropped)
        row, http = seen.row, run["http"]
        if row.outcome != "complete":
            return Preflight(False, self._refusal(run, row, dropped), row, seen.stamps, http)
        notes = [*self._dropped(row, dropped), *self._doubts(row)]
        sentence = " ".join([_answers(run["target_url"], row), *notes])
        return Preflight(True, sentence, row, seen.stamps, http, dropped, notes)

    def _ask(self, run: dict[str, Any], dropped: list[str]) -> _Try:
        """One request without these fields, and what it showed."""
        api, work, model = self.api, self._work, self.target.model
        spool = MemorySpool()
        sender = Sender(self._plan, {**run, "dropped_fields": dropped}, spool, self._traffic)
        planned = PlannedRequest(
            request_id=0,
            stage=0,
            due_ns=None,
            prompt=PROMPT,
            prompt_tokens=5,
            max_tokens=min(
                self._most_tokens, round(mean_of(work.output_tokens) or self._most_tokens)
            ),
            ignore_eos=work.ignore_eos,
            is_streamed=work.stream,
            inputs=work.inputs_per_request,
        )
        try:
            sender.send(planned, None, phase="preflight")
            self._watch(sender, spool)
        finally:
            sender.pool.close()
        decoder = spool.decoder(api, run["t0_mono_ns"])
        row = decoder.close(spool.closed)
        row.detail = redactor(self.target.api_key_env)(row.detail)
        body = orjson.loads(api.body(planned, model, dict.fromkeys(dropped)))
        sent = set(body) - set(work.extra_body)
        refused = refused_fields(row.http_status, bytes(decoder.seen.document), sent)
        return _Try(row, spool.stamps, refused)

    def _dropped(self, row: RequestRow, dropped: list[str]) -> list[str]:
        """What the run leaves out, and what that costs."""
        notes: list[str] = []
        for name in dropped:
            means = OPTIONAL[name]
            if name == "stream_options" and row.output_tokens is not None:
                means = "but tells token counts without being asked"
            elif name == "stream_options" and self.target.tokenizer:
                means = "so tokens are counted by target.tokenizer after the run"
            notes.append(f"It refuses the field {name}, which the run leaves out, {means}.")
        return notes

    def _doubts(self, row: RequestRow) -> list[str]:
        """What a good answer does not let us measure."""
        notes: list[str] = []
        if row.form == "whole":
            asked = self._work.stream and self.api.is_streaming
            although = " although a stream was asked for" if asked else ""
            notes.append(
                f"Answers come in one piece{although}: they have an end (E2E) but no first token, "
                "so there is no TTFT and there are no gaps."
            )
        if row.coding:
            notes.append(
                f"Answers come compressed ({row.coding}) although identity was asked for: tokens "
                "then arrive in lumps; switch compression off for this path."
            )
        return notes

    def _refusal(self, run: dict[str, Any], row: RequestRow, dropped: list[str]) -> str:
        where = run["target_url"]
        status = f" with HTTP {row.http_status}" if (row.http_status or 200) >= 300 else ""
        without = f" (also without {' and '.join(dropped)})" if dropped else ""
        said = f": {row.detail.rstrip('.')}." if row.detail else "."
        todo = advice(row.outcome, row.http_status, self.target.api_key_env)
        is_mute = row.outcome == "connect_failed"
        verb = "cannot be reached" if is_mute else "failed the first request"
        return f"{where} {verb}{status}{without}{said} {todo}".strip()


def _answers(where: str, row: RequestRow) -> str:
    if row.form == "whole":
        return f"{where} answers, in one piece."
    return f"{where} answers: {row.n_chunks} token events in one short request."
