"""From a plan's target and what the run has learned to an endpoint: trust, proxy, HTTP version."""

import os
from collections.abc import Mapping
from typing import Any

from loadgen.plan import PlanError, Target
from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint, HttpVersion, endpoint_of
from loadgen.transport.negotiate import http_version

ASK_S = 10  # for a TLS handshake that tells which HTTP is spoken


def facts_of(run: dict[str, Any], name: str) -> dict[str, Any]:
    """What the run has learned of one of its targets: target_url, http, dropped_fields."""
    return (run.get("targets") or {}).get(name) or run


def target_endpoint(
    target: Target,
    facts: dict[str, Any],
    api_path: str,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Endpoint, str]:
    """The endpoint of `facts["target_url"]` and the request path; asks it for its HTTP if need be.

    Raises PlanError when the environment names a proxy that cannot be used.
    """
    endpoint, path = endpoint_of(facts["target_url"], api_path)
    if not target.verify_tls:
        endpoint = endpoint.without_verification()
    try:
        endpoint = endpoint.trusting(target.ca_file).through_proxy(environment)
    except ValueError as error:
        raise PlanError([str(error)]) from None
    return endpoint.speaking(_version(target, facts, endpoint)), path


def version_after_failure(target: Target, endpoint: Endpoint) -> HttpVersion:
    """Which HTTP to try next when a first request got no HTTP/1.1 answer; asks the endpoint.

    The same again unless the target leaves the choice to us and the server speaks HTTP/2 only.
    """
    if target.http != "auto" or endpoint.http != "1.1":
        return endpoint.http
    try:
        return http_version(endpoint, ASK_S)
    except ConnectFailed:
        return endpoint.http


def _version(target: Target, facts: dict[str, Any], endpoint: Endpoint) -> HttpVersion:
    """facts["http"] once it is known; else by the plan; "auto": a TLS handshake tells.

    Without TLS nothing but a failed request tells, see version_after_failure.
    """
    known: HttpVersion | None = facts.get("http")
    if known is not None:
        return known
    if target.http != "auto":
        return target.http
    if endpoint.scheme != "https":
        return "1.1"
    return version_after_failure(target, endpoint)
