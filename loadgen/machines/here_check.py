"""Can this host play its part in a run?  Asked before the run's clock starts, told by name."""

import os
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from loadgen.machines.secret import is_loopback
from loadgen.transport.endpoint import endpoint_of

REACH_WITHIN_S = 5.0


def key_problems(plan: dict[str, Any], environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each API key's variable that is not set here; only names travel."""
    targets = {"target": plan["target"]} | {
        f"targets.{name}": target for name, target in (plan.get("targets") or {}).items()
    }
    return [
        f"the environment variable {name} ({where}.api_key_env) is not set there."
        for where, target in targets.items()
        if (name := target.get("api_key_env")) and not environment.get(name)
    ]


def reach_problem(url: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """A sentence if nothing at the URL's host and port (or its proxy) takes a connection here."""
    try:
        endpoint = endpoint_of(url, "/")[0].through_proxy(environment)
        socket.create_connection(endpoint.next_hop, REACH_WITHIN_S).close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        parts = urlsplit(url)
        own = is_loopback(parts.hostname or "")
        hint = " (that address is each machine's own)" if own else ""
        return f"{parts.netloc}{hint} takes no connection from there: {why}."
    return None
