"""Locust's request event costs nothing unless somebody listens; tried in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from pathlib import Path

from loadgen.locustfile import LocustLine, Seat
from loadgen.run_folder import RunFolder
from loadgen.transport.call import Done
import gevent
from locust.env import Environment

line = LocustLine(RunFolder(Path("none")), 0, None)
master = Environment(user_classes=[Seat]).create_master_runner("127.0.0.1", 0)
line._seated.set()  # as the leader would say
line.connect("127.0.0.1", master.server.port)
events, heard = line.environment.events, []
line.fire("level", Done("done", 1_000_000, 3_500_000, 200, None))
gevent.sleep(0.01)
print(line.environment.stats.total.num_requests)
events.request.add_listener(lambda **told: heard.append((told["name"], told["response_time"])))
line.fire("level", Done("done", 1_000_000, 3_500_000, 200, None))
gevent.sleep(0.01)
print(line.environment.stats.total.num_requests, heard, flush=True)
import os
os._exit(0)
"""


@pytest.mark.slow
def test_the_event_is_fired_for_listeners_that_are_not_locusts_own():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["0", "1 [('level', 2.5)]"], done.stderr
