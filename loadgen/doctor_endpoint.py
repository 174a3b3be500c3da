"""Can this endpoint be measured?  One short streamed request, sent as a run would send it."""

import http.client
import json
import os
import ssl
import time
import uuid
from typing import Any

from loadgen.doctor import Finding
from loadgen.plan import Plan
from loadgen.preflight import Preflight, preflight
from loadgen.transport.endpoint import Endpoint, endpoint_of

LIST_WITHIN_S = 5


def endpoint(plan: Plan) -> Finding:
    """The preflight of `plan` as a finding; plan.target.url is not sim://."""
    seen = preflight(
        plan,
        {
            "run_uid": str(uuid.uuid4()),
            "target_url": plan.target.url,
            "t0_mono_ns": time.monotonic_ns(),
        },
    )
    if not seen.ok:
        return Finding("endpoint", "bad", seen.sentence)
    if advice := doubts(seen):
        return Finding("endpoint", "warn", seen.sentence, advice)
    return Finding("endpoint", "ok", seen.sentence)


def doubts(seen: Preflight) -> str:
    """What a good answer still leaves unsaid; empty if nothing."""
    row = seen.row
    if row.output_tokens is None:
        return (
            "no usage in the answer, so tokens are not counted and only gaps between chunks are "
            "known; let the server honour stream_options.include_usage"
        )
    if row.n_chunks > 2 and row.n_shared >= row.n_chunks - 1:
        return (
            "all its tokens came in one piece: something on the way buffers or compresses "
            "(proxy_buffering off, gzip off), and gaps between tokens mean nothing"
        )
    return ""


def first_model(url: str, api_key_env: str | None) -> str | None:
    """The first model the server lists under /v1/models; None if it lists none."""
    key = os.environ.get(api_key_env) if api_key_env else None
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        where, path = endpoint_of(url, "/v1/models")
        connection = _connection(where)
        try:
            connection.request("GET", path, headers=headers)
            answer: Any = json.loads(connection.getresponse().read())
            return str(answer["data"][0]["id"])
        finally:
            connection.close()
    except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException):
        return None  # the streamed request will say what is wrong, in the server's words


def _connection(where: Endpoint) -> http.client.HTTPConnection:
    if where.scheme == "http":
        return http.client.HTTPConnection(where.host, where.port, timeout=LIST_WITHIN_S)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(
        where.host, where.port, timeout=LIST_WITHIN_S, context=context
    )
