"""The only file that imports Locust: its processes, messages and users carry our levels.

    python -m loadgen.locustfile RUN_DIR WORKER HOST:PORT [SECRET_ENV]      one load worker

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
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gevent
from gevent.event import Event
from gevent.queue import Queue
from locust import User, runners, task
from locust.env import Environment
from locust.rpc import Message

from loadgen.machines.addresses import parsed
from loadgen.machines.post import Post
from loadgen.machines.secret import LeaderKeys, leader_keys, secret_of
from loadgen.machines.sockets import Client, Port
from loadgen.machines.switchboard import Switchboard
from loadgen.run_folder import RunFolder
from loadgen.transport.call import Done
from loadgen.worker import Worker

# The leader watches the workers itself.  Locust would stop a run whose only worker paused for
# 4 s, and a worker whose host's wall clock was set by more than a minute.
runners.HEARTBEAT_LIVENESS = runners.MASTER_HEARTBEAT_TIMEOUT = 10**9
NICENESS = -10
SAY_AGAIN_S = 2.0
TEND_EVERY_S = 0.2
TENDS_A_LOOK = 10  # what is not confirmed after so many is sent again


class Seat(User):
    """One Locust user; what it does in a level is the worker's doing."""

    worker: Worker

    @task
    def sit(self) -> None:
        """Take part in every level until Locust takes the seat away."""
        self.worker.sit()


def _use_keys(keys: LeaderKeys | None) -> None:
    """Locust makes its sockets itself, and a new one when one breaks: it shall make these."""
    sockets = SimpleNamespace(Server=partial(Port, keys), Client=partial(Client, keys))
    setattr(runners, "rpc", sockets)  # noqa: B010  # no public name of Locust's


class _Master(runners.MasterRunner):
    """Locust's master, which hears only whom the switchboard has let in."""

    switchboard: Switchboard

    def handle_message(self, client_id: str, msg: Any) -> None:
        """A connection is Locust's worker once its first words were right, and not before."""
        board = self.switchboard
        if board.take(client_id, msg.type, msg.data, msg.address):
            return
        if board.is_seated(client_id):
            super().handle_message(client_id, msg)
        elif msg.type == "client_ready":  # so that it can speak at all
            self.send_message("ack", {"index": -1}, client_id)

    def seat(self, client_id: str) -> None:
        """From now on users are given to it."""
        super().handle_message(client_id, Message("client_ready", -1, client_id))

    def unseat(self, client_id: str) -> None:
        """It gets no more users."""
        node = self.clients.pop(client_id, None)
        if node is not None and self._users_dispatcher is not None:
            self._users_dispatcher.remove_worker(node)


class LocustMachine:
    """Locust's master as the leader needs it (loadgen.machine.Machine)."""

    def __init__(self, folder: RunFolder, bind: tuple[str, int], keys: LeaderKeys | None) -> None:
        self.inbox: Queue[tuple[str, dict[str, Any]]] = Queue()
        self._users = 0
        _use_keys(keys)
        environment = Environment(user_classes=[Seat])
        self._runner = environment.runner = _Master(environment, *bind)
        self._port: Any = self._runner.server
        self.port: int = self._port.port
        self.switchboard = Switchboard(folder, self)
        self._runner.switchboard = self.switchboard
        gevent.spawn(self._tend)

    def ready(self) -> int:
        """Workers that have reported."""
        return len(self._runner.clients.ready) + len(self._runner.clients.running)

    def users(self, n: int) -> None:
        """Have exactly n users over all workers."""
        self._runner.start(n, spawn_rate=max(n, self._users, 1))  # all at once, also downwards
        self._users = n

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message to every worker."""
        self.switchboard.tell(kind, content)

    def strangers(self) -> list[str]:
        """Sentences on whoever was turned away at the port."""
        return self._port.strangers.sentences()

    def carry(self, node_id: str, kind: str, content: dict[str, Any]) -> None:
        """For the switchboard: one message on its way."""
        self._runner.send_message(kind, content, node_id)

    def deliver(self, kind: str, content: dict[str, Any]) -> None:
        """For the switchboard: a worker's message, for the leader."""
        self.inbox.put((kind, content))

    def seat(self, node_id: str) -> None:
        """For the switchboard: a load worker takes part."""
        self._runner.seat(node_id)

    def unseat(self, node_id: str) -> None:
        """For the switchboard: it takes no part any more."""
        self._runner.unseat(node_id)

    def _tend(self) -> None:
        n = 0
        while True:
            gevent.sleep(TEND_EVERY_S)
            n += 1
            self.switchboard.tend(is_look=n % TENDS_A_LOOK == 0)


class LocustLine:
    """A worker's way to the leader (loadgen.worker.Line)."""

    def __init__(self, folder: RunFolder, index: int, keys: LeaderKeys | None) -> None:
        _use_keys(keys)
        self.environment = Environment(user_classes=[Seat])
        self._request: Any = self.environment.events.request
        self._own_listeners = 0  # Locust's
        self._here = {"worker": index, "run_uid": folder.run_uid}
        self._runner: Any = None
        self._post = Post()
        self._orders: Queue[tuple[str, dict[str, Any]]] = Queue()
        self._seated = Event()
        self._refusal: str | None = None

    def connect(self, host: str, port: int) -> None:
        """Report to the leader; returns once it has let this worker in.  Raises RuntimeError."""
        self._runner = self.environment.create_worker_runner(host, port)
        self._own_listeners = len(self._request._handlers)
        for kind in ("seated", "refused", "post", "got"):
            self._runner.register_message(kind, self._received)
        while not self._seated.is_set():
            self._runner.send_message("here", self._here)
            self._seated.wait(SAY_AGAIN_S)
        if self._refusal is not None:
            raise RuntimeError(f"The leader refuses this load worker: {self._refusal}")
        gevent.spawn(self._tend)

    def send(self, kind: str, content: dict[str, Any]) -> None:
        """Send one message; it arrives, once, whatever becomes of the connection."""
        self._runner.send_message("post", self._post.wrap(kind, content))

    def obey(self, worker: Worker) -> None:
        """Hand the leader's messages to the worker; returns when the leader says leave.

        Locust's own quit takes its time (a second and more); ours ends the worker at once.
        """
        while True:
            kind, content = self._orders.get()
            if kind == "leave":
                return
            gevent.spawn(worker.obey, kind, content)

    def leave(self) -> None:
        """As if the leader had said so."""
        self._orders.put(("leave", {}))

    def fire(self, name: str, done: Done) -> None:
        """Locust's own request event, once per stream, if anybody but Locust's statistics listens.

        Those are never our numbers; and a listener may wait, which the loop may not.
        """
        if len(self._request._handlers) == self._own_listeners:
            return
        gevent.spawn(
            self._request.fire,
            request_type="STREAM",
            name=name,
            response_time=(done.end_ns - (done.send_ns or done.end_ns)) / 1e6,
            response_length=0,
            exception=None if done.cause == "done" else RuntimeError(done.detail or done.cause),
            context={},
        )

    def _received(self, environment: Environment, msg: Any, **_: Any) -> None:
        del environment
        if msg.type == "post":
            taken = self._post.take(msg.data)
            if taken is not None:
                self._orders.put(taken)
        elif msg.type == "got":
            self._post.confirmed(msg.data["below"])
        else:
            self._refusal = msg.data.get("why")
            self._seated.set()

    def _tend(self) -> None:
        n = 0
        while True:
            gevent.sleep(TEND_EVERY_S)
            n += 1
            if n % TENDS_A_LOOK == 0:
                for envelope in self._post.overdue():
                    self._runner.send_message("post", envelope)
            if (below := self._post.receipt()) is not None:
                self._runner.send_message("got", {"below": below})


def work(folder: RunFolder, index: int, leader: str, secret_env: str | None) -> None:
    """Run load worker `index` until the leader (HOST:PORT) says leave or is gone."""
    with contextlib.suppress(PermissionError):  # where we may: a late read is a doubtful number
        os.nice(NICENESS)
    secret = secret_of(secret_env, os.environ)
    line = LocustLine(folder, index, leader_keys(secret) if secret else None)
    worker = Worker(folder, index, line)  # holds its spool before it reports
    worker.on_done = line.fire
    Seat.worker = worker
    line.connect(*parsed(leader))
    gevent.signal_handler(signal.SIGTERM, _end, worker, line)
    worker.start()
    line.obey(worker)
    worker.close()


def _end(worker: Worker, line: LocustLine) -> None:
    worker.cut("the load worker was asked to end")
    line.leave()


def main(arguments: list[str]) -> None:
    """A load worker's process; the leader, or the outpost beside it, starts it."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    folder, index, leader, *secret_env = arguments
    work(RunFolder(Path(folder)), int(index), leader, "".join(secret_env) or None)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # Locust's sockets and greenlets would hold the interpreter for a second


if __name__ == "__main__":
    main(sys.argv[1:])
