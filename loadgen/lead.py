"""The leader's process: `python -m loadgen.lead RUN_DIR`; launch.py starts it.

Locust is imported only once the endpoint has answered: a wrong URL is told a second earlier.
"""

from gevent import monkey

monkey.patch_all()

import logging
import os
import signal
import sys
from functools import partial
from pathlib import Path

import gevent

from loadgen.leader import Leader
from loadgen.machine import Machine
from loadgen.run_folder import RunFolder


def locust_machine(folder: RunFolder) -> Machine:
    """Locust's master, listening where the plan says.  Raises RunEnded if it cannot."""
    from loadgen.locustfile import LocustMachine
    from loadgen.machines.listening import Listening

    return Listening(folder.read_plan()).open(lambda bind, keys: LocustMachine(folder, bind, keys))


def lead(folder: RunFolder) -> None:
    """Run the leader of `folder`'s run; SIGTERM stops it orderly, keeping what was measured."""
    leader = Leader(folder)
    gevent.signal_handler(signal.SIGTERM, leader.stop.set)
    gevent.signal_handler(signal.SIGINT, leader.stop.set)
    leader.run(partial(locust_machine, folder))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    lead(RunFolder(Path(sys.argv[1])))
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # Locust's sockets and greenlets would hold the interpreter for a second
