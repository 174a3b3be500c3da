"""One answer of our own drip server, through the very client that a run uses."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gevent
from gevent.subprocess import DEVNULL, PIPE, Popen

from loadgen.memory_spool import MemorySpool
from loadgen.plan import Plan, parse
from loadgen.schedule import PlannedRequest
from loadgen.sender import Sender
from loadgen.wire.registry import APIS

SERVER = Path(__file__).with_name("drip_server.py")
WITHIN_S = 5.0
API = "openai_chat"


class DripError(RuntimeError):
    """The self-test could not be made; that says nothing about the client."""


@dataclass(frozen=True, slots=True)
class Drip:
    """When each token left our server and when the client says that it came; ns, one clock."""

    sent_ns: list[int]
    arrived_ns: list[int]
    stamps: Literal["kernel", "user"]


def drip(n: int, gap_ms: int) -> Drip:
    """n tokens gap_ms apart, sent and measured; raises DripError.

    gevent's own Popen: in a process that is not monkey-patched too, the loop must go on.
    """
    arguments = [sys.executable, "-I", "-S", str(SERVER), str(n), str(gap_ms)]
    try:
        server: Any = Popen(arguments, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise DripError(f"its server could not be started: {error.strerror or error}") from None
    try:
        with gevent.Timeout(WITHIN_S, DripError(f"it took longer than {WITHIN_S:g} s")):
            spool = _ask(f"http://127.0.0.1:{int(server.stdout.readline() or -1)}")
            sent_ns: list[int] = json.loads(server.stdout.readline() or "[]")
    except ValueError as error:
        raise DripError(f"its server did not answer: {error}") from None
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    decoder = spool.decoder(APIS[API], 0)
    row = decoder.close(spool.closed)
    if row.outcome != "complete" or spool.stamps is None:
        raise DripError(f"its answer was {row.outcome}: {row.detail}")
    if not sent_ns:
        raise DripError("its server did not say when it sent")
    arrived_ns = [int(us) * 1000 for us in decoder.take_tokens()["t_us"]]
    return Drip(sent_ns, arrived_ns, spool.stamps)


def _ask(url: str) -> MemorySpool:
    """Send the request and wait for the end of its answer."""
    spool, plan = MemorySpool(), _plan(url)
    sender = Sender(plan, {"run_uid": "drip", "target_url": url}, spool)
    try:
        sender.send(_REQUEST, None, phase="preflight")
    finally:
        sender.pool.close()
    return spool


def _plan(url: str) -> Plan:
    limits = {"connect_s": WITHIN_S, "silence_s": WITHIN_S, "request_s": WITHIN_S}
    return parse(
        {
            "target": {"url": url, "model": "drip", "api": API, "http": "1.1"},
            "stages": [{"concurrency": 1, "requests": 1}],
            "limits": limits,
        }
    )


_REQUEST = PlannedRequest(
    request_id=0,
    stage=0,
    due_ns=None,
    prompt="drip",
    prompt_tokens=1,
    max_tokens=1,
    ignore_eos=False,
)
