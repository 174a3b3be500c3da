"""From a plan's target and what the run has learned to an endpoint: trust, proxy, HTTP version."""

import os
from collections.abc import Mapping
from typing import Any

from loadgen.plan import Plan, PlanError
from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint, HttpVersion, endpoint_of
from loadgen.transport.negotiate import http_version


def target_endpoint(
    plan: Plan,
    run: dict[str, Any],
    api_path: str,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Endpoint, str]:
    """The endpoint of `run["target_url"]` and the request path; asks it for its HTTP if need be.

    Raises PlanError when the environment names a proxy that cannot be used.
    """
    target = plan.target
    endpoint, path = endpoint_of(run["target_url"], api_path)
    if not target.verify_tls:
        endpoint = endpoint.without_verification()
    try:
        endpoint = endpoint.trusting(target.ca_file).through_proxy(environment)
    except ValueError as error:
        raise PlanError([str(error)]) from None
    return endpoint.speaking(_version(plan, run, endpoint)), path


def version_after_failure(plan: Plan, endpoint: Endpoint) -> HttpVersion:
    """Which HTTP to try next when a first request got no HTTP/1.1 answer; asks the endpoint.

    The same again unless the plan leaves the choice to us and the server speaks HTTP/2 only.
    """
    if plan.target.http != "auto" or endpoint.http != "1.1":
        return endpoint.http
    try:
        return http_version(endpoint, plan.limits.connect_s)
    except ConnectFailed:
        return endpoint.http


def _version(plan: Plan, run: dict[str, Any], endpoint: Endpoint) -> HttpVersion:
    """run["http"] once it is known; else by the plan; "auto": a TLS handshake tells.

    Without TLS nothing but a failed request tells, see version_after_failure.
    """
    known: HttpVersion | None = run.get("http")
    if known is not None:
        return known
    if plan.target.http != "auto":
        return plan.target.http
    if endpoint.scheme != "https":
        return "1.1"
    return version_after_failure(plan, endpoint)
