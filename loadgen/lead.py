"""The leader's process: `python -m loadgen.lead RUN_DIR`; launch.py starts it.

Locust is imported only once the endpoint has answered: a wrong URL is told a second earlier.
"""

from gevent import monkey

monkey.patch_all()

import logging
import os
import signal
import sys
from pathlib import Path

import gevent

from loadgen.leader import Leader, Machine
from loadgen.run_folder import RunFolder


def locust_machine() -> Machine:
    """Locust's master."""
    from loadgen.locustfile import LocustMachine

    return LocustMachine()


def lead(folder: RunFolder) -> None:
    """Run the leader of `folder`'s run; SIGTERM stops it orderly, keeping what was measured."""
    leader = Leader(folder)
    gevent.signal_handler(signal.SIGTERM, leader.stop.set)
    gevent.signal_handler(signal.SIGINT, leader.stop.set)
    leader.run(locust_machine)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    lead(RunFolder(Path(sys.argv[1])))
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # Locust's sockets and greenlets would hold the interpreter for a second
