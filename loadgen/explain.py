"""Explain one exchange event by event, from its raw reads.  Pure.

It is decoded by the decoder of every run (exchange.ExchangeDecoder), so that what is shown is what
a run would measure.
"""

import json
from collections.abc import Sequence
from statistics import median
from typing import Any

from loadgen.exchange import Read
from loadgen.explain_events import Clean, Followed, follow
from loadgen.explain_facts import Asked, Explanation, Gaps, Phases
from loadgen.explain_warnings import warnings
from loadgen.explain_words import printable
from loadgen.wire.api import Api

HEADERS = (
    "server",
    "via",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "cache-control",
    "x-accel-buffering",
    "x-cache",
    "cf-cache-status",
    "x-request-id",
    "retry-after",
)
"""Response headers that say who answered, and what happened to the answer on its way."""


def explain(
    reads: Sequence[Read],
    metas: tuple[dict[str, Any], dict[str, Any]],
    api: Api,
    asked: Asked,
    clean: Clean = lambda text: text,
) -> Explanation:
    """The exchange in phases, lines, counts and warnings.

    reads: mono_ns, delay_ns, poll_ns, bytes, as in storage.raw_record.  metas: its OPEN and CLOSE.
    clean: takes the key out of what a server may have repeated (redact.redactor).
    """
    found = follow(reads, metas, api, clean)
    row = found.row
    row.detail = clean(row.detail)
    explanation = Explanation(
        asked=asked,
        ok=row.outcome == "complete",
        row=row,
        phases=_phases(found),
        gaps=_gaps(found),
        events=found.lines,
        kinds=_kinds(found),
        n_reads=len(reads),
        headers=_headers(found.seen.http.headers, clean),
        model=_model(found.payloads, bytes(found.seen.document)),
        usage_contradicts=found.seen.answer.usage_contradicts,
        max_lag_ms=None if row.n_missing_stamps else found.max_lag_us / 1000,
        n_clock_steps=found.n_clock_steps,
        body_complete=found.seen.http.complete,
        is_http_1_0=bool(reads) and reads[0][3].startswith(b"HTTP/1.0 "),
    )
    explanation.warnings.extend(warnings(explanation))
    return explanation


def _phases(found: Followed) -> Phases:
    row = found.row
    return Phases(
        dns_ms=_ms(row.dns_us),
        connect_ms=_ms(row.connect_us),
        tls_ms=_ms(row.tls_us),
        first_byte_ms=_ms(row.first_byte_us),
        headers_ms=_ms(row.headers_us),
        first_event_ms=next((line.ms for line in found.lines if line.kind != "comment"), None),
        first_token_ms=_ms(row.first_token_us),
        first_visible_ms=_ms(row.first_visible_us),
        last_token_ms=_ms(row.last_token_us),
        whole_ms=_ms(row.whole_us),
        end_ms=row.end_us / 1000,
    )


def _gaps(found: Followed) -> Gaps:
    gaps_us: list[int] = found.tokens["gap_us"].tolist()[1:]
    if not gaps_us:
        return Gaps(None, None, 0)
    return Gaps(round(median(gaps_us) / 1000, 3), max(gaps_us) / 1000, len(gaps_us))


def _kinds(found: Followed) -> dict[str, int]:
    """Lines by kind, in the order in which they first came."""
    kinds: dict[str, int] = {}
    for line in found.lines:
        kinds[line.kind] = kinds.get(line.kind, 0) + 1
    return kinds


def _headers(headers: dict[str, str], clean: Clean) -> dict[str, str]:
    known = ((name, headers.get(name)) for name in HEADERS)
    return {name: printable(clean(value) or "") for name, value in known if value is not None}


def _model(payloads: list[bytes], document: bytes) -> str | None:
    """The model that the answer says it is of: at the top, or in the object that begins it."""
    for data in [*payloads, document]:
        try:
            value: Any = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            continue
        for holder in (value, value.get("message"), value.get("response")):
            if isinstance(holder, dict) and isinstance(named := holder.get("model"), str):
                return printable(named)
    return None


def _ms(us: int | None) -> float | None:
    return None if us is None else us / 1000
