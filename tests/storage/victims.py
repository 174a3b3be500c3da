"""Processes to be killed with -9: a store, a decoder and load workers that start in no time.

They are forked from a process that has imported everything, so that thirty kills take seconds.
"""

import itertools
import multiprocessing
import os
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raw_runs import RawRun

from loadgen import decoder
from storage import intake, store

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["victims"])
ACK = struct.Struct("<qq")


class Victim:
    """One process that is killed and started again until it may end."""

    def __init__(self, target: Callable[..., None], *args: Any) -> None:
        self._target, self._args = target, args
        self._process = self._started()

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def start_again(self) -> None:
        self._process = self._started()

    def terminate(self) -> None:
        self._process.terminate()
        self._process.join()

    def _started(self) -> Any:
        process = CONTEXT.Process(target=self._target, args=self._args)
        process.start()
        return process


def hasty_store(data: Path) -> None:
    """The store process without its pauses."""
    store.TURN_EVERY_S = 0.01
    intake._LOAD_EVERY_S = intake._SUMMARY_EVERY_S = 0.0
    store.own(data, 60.0, None)


def hasty_decoder(run_dir: Path) -> None:
    """The decoder of worker 0 without its pauses."""
    decoder.POLL_S = 0.005
    decoder.decode_run(run_dir, 0)


def load_worker(run_dir: Path, worker: int, n_workers: int, acks: Any) -> None:
    """Writes tokens and says after each how many of its request are written; never ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    run = RawRun(run_dir, worker=worker)
    os.write(acks.fileno(), ACK.pack(-1, 0))
    for i in itertools.count():
        k = worker + n_workers * i
        run.open(k)
        for n in range(1, 30):
            run.token(k)
            os.write(acks.fileno(), ACK.pack(k, n))
        if i % 3:
            run.close(k)
        if i % 10 == 9:
            run.next_segment()
