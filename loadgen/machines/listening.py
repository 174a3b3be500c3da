"""The port where the leader waits for its workers: from the plan to an open one, or a sentence."""

import os
from collections.abc import Callable
from typing import TypeVar

import zmq

from loadgen.machines import addresses
from loadgen.machines.secret import LeaderKeys, SecretError, keys_for
from loadgen.plan import Plan
from loadgen.run_ended import RunEnded

T = TypeVar("T")


class Listening:
    """Where to listen and with which keys.  Raises RunEnded if the secret is missing or bad."""

    def __init__(self, plan: Plan) -> None:
        machines = plan.machines
        self._host, self._port = addresses.LOOPBACK, 0
        self._keys: LeaderKeys | None = None
        if machines is None:
            return
        if machines.workers:
            self._host, self._port = machines.bind, machines.port
        try:
            self._keys = keys_for(self._host, machines.secret_env, os.environ)
        except SecretError as error:
            raise RunEnded("failed", str(error)) from None

    def open(self, make: Callable[[tuple[str, int], LeaderKeys | None], T]) -> T:
        """What `make` makes of the address; RunEnded if nobody may listen there."""
        try:
            return make((addresses.to_bind(self._host), self._port), self._keys)
        except (OSError, zmq.ZMQError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise RunEnded(
                "failed",
                f"The leader cannot listen at {self._host}:{self._port} (machines.bind and "
                f"machines.port): {why}.",
            ) from None
