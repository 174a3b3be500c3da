"""Check one endpoint with one short request, explained event by event.

`python -m loadgen.check` reads a plan's `target` as JSON from stdin and writes the explanation as
JSON to stdout, for callers that must not load gevent (the dashboard).
"""

import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import gevent

from loadgen.check_api import AUTO, Target, first_model, guess
from loadgen.crew import Crew, CrewError
from loadgen.explain import explain
from loadgen.explain_facts import Asked, Explanation
from loadgen.memory_spool import MemorySpool
from loadgen.plan import Plan, PlanError, parse
from loadgen.preflight import Preflight, preflight
from loadgen.redact import redactor
from loadgen.run_folder import RunFolder
from loadgen.sender import Sender
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.stamps import kept_stamps
from loadgen.wire.registry import APIS

TOKENS = 64
"""Enough to see the pace of an answer, and cheap."""
LIMITS = {"connect_s": 10, "silence_s": 45, "request_s": 60}
CLOSES_WITHIN_S = 0.25
"""A server that closes after its answer does so at once (llama.cpp: within a millisecond)."""


class _Watch:
    """Keeps the last request's raw reads, its endpoint, and whether the server closed after it."""

    def __init__(self) -> None:
        self.spool = MemorySpool()
        self.endpoint: Endpoint | None = None
        self.closes: bool | None = None

    def __call__(self, sender: Sender, spool: MemorySpool) -> None:
        self.spool, self.endpoint, self.closes = spool, sender.endpoint, None
        if spool.closed.get("cause") != "done":
            return
        left_s = CLOSES_WITHIN_S
        while sender.pool.open_connections and left_s > 0:
            gevent.sleep(0.01)
            left_s -= 0.01
        self.closes = not sender.pool.open_connections


def raw_plan(target: Target) -> dict[str, Any]:
    """The plain values of a check's plan; void fields of `target` count as not given."""
    return {
        "name": "check",
        "target": {name: value for name, value in target.items() if value not in (None, "")},
        "workload": {"output_tokens": TOKENS},
        "stages": [{"concurrency": 1, "requests": 1}],
        "limits": LIMITS,
    }


def plan_of(target: Target) -> Plan:
    """The plan of a check; raises PlanError.  api "auto" and a void model are found by asking."""
    raw = raw_plan(target)
    _check_key(raw["target"].get("api_key_env"))
    if str(raw["target"].get("url", "")).startswith(("http://", "https://")):
        raw["target"] = _completed(raw["target"])
    return parse(raw)


@kept_stamps()
def check(plan: Plan) -> Explanation:
    """One request as a run would send it.  Raises PlanError or CrewError with a sentence."""
    with _target_url(plan) as url:
        watch = _Watch()
        began_ns = time.monotonic_ns()
        run = {"run_uid": str(uuid.uuid4()), "target_url": url, "t0_mono_ns": began_ns}
        try:
            seen = preflight(plan, run, watch, TOKENS)
        except (OSError, ValueError) as error:  # a CA file, a key that no header can carry
            raise PlanError([str(error)]) from None
    asked = _asked(plan, url, watch, seen)
    spool = watch.spool
    clean = redactor(plan.target.api_key_env)
    metas = (spool.opened, spool.closed)
    explanation = explain(spool.reads, metas, APIS[plan.target.api], asked, clean)
    return replace(explanation, sentence=clean(seen.sentence) or "")


def main() -> None:
    """Explanation, or {"ok": false, "sentence": …} where no request could be sent."""
    try:
        answer = check(plan_of(json.load(sys.stdin))).to_dict()
    except (PlanError, CrewError) as error:
        answer: dict[str, Any] = {"ok": False, "sentence": str(error)}
    sys.stdout.write(json.dumps(answer))


def _check_key(name: str | None) -> None:
    if name and not os.environ.get(name):
        raise PlanError([f"The environment variable {name} (api_key_env) is not set here."])


def _completed(target: Target) -> Target:
    """With an API and a model where the endpoint itself tells them."""
    if target.get("api") == AUTO:
        found = guess(target)
        return {"model": found.model or "default", **target, "api": found.api}
    if "model" not in target:
        return {**target, "model": first_model(target) or "default"}
    return target


@contextmanager
def _target_url(plan: Plan) -> Generator[str]:
    """The plan's URL; that of a simulator of its own for a sim:// one, which ends afterwards."""
    if not plan.target.url.startswith("sim://"):
        yield plan.target.url
        return
    with tempfile.TemporaryDirectory(prefix="headway-check-") as folder:
        crew = Crew(RunFolder(Path(folder)))
        try:
            yield crew.start_simulator(plan.target)
        finally:
            crew.end()


def _asked(plan: Plan, url: str, watch: _Watch, seen: Preflight) -> Asked:
    target, work = plan.target, plan.workload
    api, where, dropped = APIS[target.api], watch.endpoint, tuple(seen.dropped_fields)
    return Asked(
        url=url,
        api=target.api,
        model=target.model,
        max_tokens=TOKENS,
        is_streamed=work.stream and api.is_streaming,
        ignores_eos=work.ignore_eos and api.knows_ignore_eos and "ignore_eos" not in dropped,
        has_tokenizer=target.tokenizer is not None,
        http=seen.http,
        proxy=where.proxy.name if where and where.proxy else None,
        insecure=bool(where and where.is_insecure),
        dropped_fields=dropped,
        closes=watch.closes,
    )


if __name__ == "__main__":
    main()
