"""What an answer's headers say beside its body: the server's own id, and when to come back."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

ID_HEADERS = (
    "x-request-id",  # OpenAI, vLLM with --enable-request-id-headers, most gateways
    "request-id",  # Anthropic
    "x-amzn-requestid",  # AWS Bedrock
    "apim-request-id",  # Azure
    "x-litellm-call-id",
    "cf-ray",  # Cloudflare
)
"""Names under which a server tells the id that its own log knows a request by; the first wins."""
MAX_ID_CHARS = 200
_ASK_TO_WAIT = (429, 503)


def server_request_id(headers: Mapping[str, str], ours: str) -> str | None:
    """The server's id, None if it told none but the one we had sent; names in lower case."""
    for name in ID_HEADERS:
        told = headers.get(name, "").strip()
        if told and told != ours:
            return told[:MAX_ID_CHARS]
    return None


def retry_after_s(status: int | None, headers: Mapping[str, str]) -> float | None:
    """Seconds that a 429 or 503 asks to wait, 0 if the instant it names is over; None if unknown.

    An HTTP-date is taken relative to the answer's own Date, so that no clock of ours is compared
    with the server's.  Source: RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's and Azure's.
    """
    if status not in _ASK_TO_WAIT:
        return None
    in_ms = _seconds(headers.get("retry-after-ms", ""))
    if in_ms is not None:
        return in_ms / 1000
    told = headers.get("retry-after", "")
    in_s = _seconds(told)
    if in_s is not None:
        return in_s
    until, now = _instant(told), _instant(headers.get("date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _instant(text: str) -> datetime | None:
    """An HTTP-date; without a zone it is GMT, as all of them are."""
    try:
        instant = parsedate_to_datetime(text)
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
