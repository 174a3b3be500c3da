"""The only file that imports Locust: its processes, messages and users carry our levels.

    python -m loadgen.locustfile RUN_DIR WORKER PORT      one load worker

Locust gives the master and worker processes, the message channel, user counts and the request
event.  Its clients and its statistics are never ours: they read streams in blocks of 1,024 bytes
and round percentiles to two digits.
"""

from gevent import monkey

monkey.patch_all()

import contextlib
import logging
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import gevent
from gevent.event import Event
from gevent.queue import Queue
from locust import User, runners, task
from locust.env import Environment

from loadgen.run_folder import RunFolder
from loadgen.transport.call import Done
from loadgen.worker import Worker

# The leader polls the processes themselves.  Locust would stop a run whose only worker paused for
# 4 s, and a worker whose host's wall clock was set by more than a minute.
runners.HEARTBEAT_LIVENESS = runners.MASTER_HEARTBEAT_TIMEOUT = 10**9
HOST = "127.0.0.1"
NICENESS = -10
TO_WORKERS = ("warm", "begin", "cut", "leave")
TO_LEADER = ("seats", "warmed", "ended", "pulse", "failing", "hopeless")


class Seat(User):
    """One Locust user; what it does in a level is the worker's doing."""

    worker: Worker

    @task
    def sit(self) -> None:
        """Take part in every level until Locust takes the seat away."""
        self.worker.sit()


class LocustMachine:
    """Locust's master as the leader needs it (loadgen.leader.Machine)."""

    def __init__(self) -> None:
        self.inbox: Queue[tuple[str, dict[str, Any]]] = Queue()
        self.port = _free_port()
        self._users = 0
        environment = Environment(user_classes=[Seat])
        self._runner = environment.create_master_runner(HOST, self.port)
        for kind in TO_LEADER:
            self._runner.register_message(kind, self._received)

    def ready(self) -> int:
        """Workers that have reported."""
        return len(self._runner.clients.ready) + len(self._runner.clients.running)

    def users(self, n: int) -> None:
        """Have exactly n users over all workers."""
        self._runner.start(n, spawn_rate=max(n, self._users))  # all at once, also downwards
        self._users = n

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message to every worker."""
        self._runner.send_message(kind, content)

    def _received(self, environment: Environment, msg: Any, **_: Any) -> None:
        del environment
        self.inbox.put((msg.type, msg.data))


class LocustLine:
    """A worker's way to the leader (loadgen.worker.Line)."""

    def __init__(self) -> None:
        self.environment = Environment(user_classes=[Seat])
        self._runner: Any = None

    def connect(self, port: int) -> None:
        """Report to the leader: from now on this worker counts as ready."""
        self._runner = self.environment.create_worker_runner(HOST, port)

    def send(self, kind: str, content: dict[str, Any]) -> None:
        """Send one message."""
        self._runner.send_message(kind, content)

    def obey(self, worker: Worker) -> None:
        """Hand the leader's messages to the worker; returns when the leader says leave.

        Locust's own quit takes its time (a second and more); ours ends the worker at once.
        """
        left = Event()

        def received(environment: Environment, msg: Any, **_: Any) -> None:
            del environment
            if msg.type == "leave":
                left.set()
            else:
                worker.obey(msg.type, msg.data)

        for kind in TO_WORKERS:
            self._runner.register_message(kind, received, concurrent=True)
        left.wait()

    def fire(self, name: str, done: Done) -> None:
        """Locust's own request event, once per stream: for its listeners, never for our numbers."""
        self.environment.events.request.fire(
            request_type="STREAM",
            name=name,
            response_time=(done.end_ns - (done.send_ns or done.end_ns)) / 1e6,
            response_length=0,
            exception=None if done.cause == "done" else RuntimeError(done.detail or done.cause),
            context={},
        )


def work(folder: RunFolder, index: int, port: int) -> None:
    """Run load worker `index` until the leader says leave or is gone."""
    with contextlib.suppress(PermissionError):  # where we may: a late read is a doubtful number
        os.nice(NICENESS)
    line = LocustLine()
    worker = Worker(folder, index, line)  # holds its spool before it reports
    worker.on_done = line.fire
    line.connect(port)
    Seat.worker = worker
    gevent.signal_handler(signal.SIGTERM, worker.cut, "the load worker was asked to end")
    worker.start()
    line.obey(worker)
    worker.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def main(arguments: list[str]) -> None:
    """A load worker's process; the leader starts it."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    folder, index, port = arguments
    work(RunFolder(Path(folder)), int(index), int(port))
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # Locust's sockets and greenlets would hold the interpreter for a second


if __name__ == "__main__":
    main(sys.argv[1:])
