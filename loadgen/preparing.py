"""What a run asks before it loads: does the client see gaps, and how does the endpoint answer?"""

import os
import platform
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import gevent

from loadgen.clocks import instant
from loadgen.crew import Crew
from loadgen.memory_spool import MemorySpool
from loadgen.plan import Plan
from loadgen.preflight import Preflight, preflight
from loadgen.run_ended import RunEnded
from loadgen.run_folder import RunFolder
from loadgen.self_test import SelfTest, self_test
from loadgen.sender import Sender
from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.negotiate import http_version

SPEAKS_HTTP_2 = ("malformed", "reset")  # how a plain HTTP/2 server takes a first HTTP/1.1 request


def prepare(plan: Plan, folder: RunFolder, crew: Crew) -> dict[str, Any]:
    """What run.json says, which is written here.  Raises RunEnded if nothing can be run.

    run["notes"]: sentences on what the numbers will lack.

    The self-test runs while the simulator starts and the endpoint answers: all of them mostly
    wait.  It has ended before anything else keeps this process busy.
    """
    run = _first_facts(plan, folder)
    _check_key(plan)
    testing: Any = gevent.spawn(self_test)
    try:
        if plan.target.url.startswith("sim://"):
            run["target_url"] = crew.start_simulator(plan)
        run |= _connection_facts(plan, run)
        seen = _preflight(plan, run)
        run |= {"preflight": seen.to_dict(), "stamps": seen.stamps}
        run["dropped_fields"] = seen.dropped_fields
        tested: SelfTest | None = testing.get() if seen.ok else None
        run["self_test"] = tested and tested.to_dict()
        run["notes"] = [*seen.notes, *_notes(tested)]
    finally:
        testing.kill()
    folder.write("run.json", run)
    if not seen.ok:
        raise RunEnded("failed", seen.sentence)
    if tested is not None and tested.ok is False:
        raise RunEnded("failed", tested.sentence)
    return run


def _notes(tested: SelfTest | None) -> list[str]:
    return [tested.sentence] if tested is not None and tested.is_doubtful else []


def _first_facts(plan: Plan, folder: RunFolder) -> dict[str, Any]:
    t0_ns, epoch_ns = instant()
    return {
        "run_uid": folder.run_uid,
        "name": plan.name,
        "t0_mono_ns": t0_ns,
        "epoch_ns": epoch_ns,
        "host": platform.node(),
        "versions": _versions(),
        "n_workers": plan.workers,
        "target_url": plan.target.url,
        "cpu_count": os.cpu_count(),
        "stamps": None,  # nothing was read yet
        "preflight": None,
        "self_test": None,
        "dropped_fields": [],
    }


def _check_key(plan: Plan) -> None:
    name = plan.target.api_key_env
    if name and name not in os.environ:
        raise RunEnded(
            "failed", f"The environment variable {name} (target.api_key_env) is not set here."
        )


def _connection_facts(plan: Plan, run: dict[str, Any]) -> dict[str, Any]:
    """How the endpoint is spoken to; an endpoint that cannot be reached is the preflight's."""
    endpoint, wanted = _endpoint(plan, run), plan.target.http
    proxy = endpoint.proxy
    if wanted == "auto":
        wanted = "1.1"
        if endpoint.scheme == "https":
            with suppress(ConnectFailed):
                wanted = http_version(endpoint, plan.limits.connect_s)
    return {
        "http": wanted,
        "insecure": endpoint.scheme == "https" and not endpoint.verify_tls,
        "proxy": f"{proxy.host}:{proxy.port}" if proxy else None,
    }


def _preflight(plan: Plan, run: dict[str, Any]) -> Preflight:
    """The preflight, again in HTTP/2 if that is all the server speaks; run["http"] says so."""
    seen = preflight(plan, run)
    is_plain = run["target_url"].startswith("http:") and plan.target.http == "auto"
    if seen.ok or not is_plain or seen.row.outcome not in SPEAKS_HTTP_2:
        return seen
    with suppress(ConnectFailed):
        run["http"] = http_version(_endpoint(plan, run), plan.limits.connect_s)
    return preflight(plan, run) if run["http"] == "2" else seen


def _endpoint(plan: Plan, run: dict[str, Any]) -> Endpoint:
    sender = Sender(plan, run, 0, MemorySpool())
    sender.pool.close()
    return sender.endpoint


def _versions() -> dict[str, str]:
    names = ("headway", "locust", "gevent", "httptools")
    return {"python": platform.python_version()} | {n: version(n) for n in names if _has(n)}


def _has(name: str) -> bool:
    try:
        return bool(version(name))
    except ModuleNotFoundError:
        return False
