"""One tool at one level against the truth server: what it reports beside what happened."""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import truth_log
from bench.peers import command, environments, truth
from bench.peers.command import Cores, Cpu, Ended
from bench.peers.environments import NotInstalled
from bench.peers.peer import Load, Peer, Reported, ResultError
from bench.peers.registry import PEERS
from bench.peers.truth import Truth
from bench.processes import truth_server

TTFT_MS, ITL_MS, N_TOKENS = 100, 20, 50  # 50 tok/s per stream
ANSWER_S = (TTFT_MS + ITL_MS * (N_TOKENS - 1)) / 1e3
PACE = ("--ttft-ms", str(TTFT_MS), "--itl-ms", str(ITL_MS), "--n", str(N_TOKENS))


@dataclass(frozen=True, slots=True)
class Measured:
    """A run that left a result."""

    tool: str
    concurrency: int
    exit_code: int | None
    reported: Reported
    truth: Truth  # of the requests its numbers are about
    whole: Truth  # of all its load
    cpu: Cpu


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that left none; `words`: whose fault and why, in the tool's own words."""

    tool: str
    concurrency: int
    words: str


def ideal_events_per_s(concurrency: int) -> float:
    """What a client offers that asks again at once, whatever it does besides."""
    return concurrency * N_TOKENS / ANSWER_S


def measure(
    peer: Peer, concurrency: int, rounds: int, where: Path, cores: Cores
) -> Measured | Failed:
    """`rounds` answers per stream.  where: the folder with the peers' environments."""
    with tempfile.TemporaryDirectory(prefix="headway-peers-") as temporary:
        log_file, own = Path(temporary) / "truth.log", Path(temporary) / "tool"
        own.mkdir()
        try:
            with truth_server(log_file, *PACE) as (url, pid):
                if cores.server is not None:
                    os.sched_setaffinity(pid, {cores.server})
                tokenizer = environments.tokenizer(where, peer)
                requests = concurrency * rounds
                load = Load(url, "truth", concurrency, requests, N_TOKENS, tokenizer, own)
                ended = _run(peer, load, where, cores.client)
        except (NotInstalled, OSError) as error:
            return Failed(peer.name, concurrency, str(error))
        try:
            return _joined(peer, load, log_file, ended)
        except (ResultError, OSError, ValueError) as error:
            return Failed(peer.name, concurrency, f"{error}; {ended.words}")


def _run(peer: Peer, load: Load, where: Path, core: int | None) -> Ended:
    env = environments.variables(where, peer) | {"HEADWAY_DATA": str(load.folder / "data")}
    program = str(environments.program(where, peer)) if peer.name in PEERS else sys.executable
    return command.run([program, *peer.arguments(load)], load.folder, env, core)


def _joined(peer: Peer, load: Load, log_file: Path, ended: Ended) -> Measured:
    log = truth.load_of(truth_log.read(log_file), load.requests)
    whole, reported = truth.truth_of(log), peer.read(load)
    return Measured(
        tool=peer.name,
        concurrency=load.concurrency,
        exit_code=ended.code,
        reported=reported,
        truth=truth.truth_of(truth.within(log, reported.window_ns)),
        whole=whole,
        cpu=ended.cpu(whole),
    )
