"""`python -m bench.peers install [NAME...]` and `run`: Headway beside other load generators."""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench.figures import OUT, machine
from bench.peers import environments
from bench.peers.command import two_cores
from bench.peers.environments import NotInstalled
from bench.peers.registry import PEERS, TOOLS
from bench.peers.side_by_side import ANSWER_S, Failed, measure
from bench.peers.tables import Result, tables

LEVELS = (1, 64, 256, 512)
ROUNDS = 10  # answers per stream: 11 s where the client keeps up


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    commands = options.add_subparsers(required=True, metavar="install | run")
    for_install = commands.add_parser("install", help="make the peers' environments (about 4 GB)")
    for_install.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PEERS))
    for_install.set_defaults(command=_install, known=PEERS)
    for_run = commands.add_parser("run", help="measure them and Headway, one after the other")
    for_run.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TOOLS))
    for_run.add_argument("--levels", type=int, nargs="+", default=LEVELS, metavar="STREAMS")
    for_run.add_argument("--rounds", type=int, default=ROUNDS, help="answers per stream")
    for_run.add_argument("--runs", type=int, default=1, help="repetitions, a row each")
    for_run.set_defaults(command=_run, known=TOOLS)
    for command in (for_install, for_run):
        command.add_argument(
            "--envs", type=Path, default=environments.DEFAULT, help="folder of the environments"
        )
    chosen = options.parse_args()
    if unknown := set(chosen.names) - set(chosen.known):
        options.error(f"no {', '.join(sorted(unknown))}; there are {', '.join(chosen.known)}")
    chosen.envs = chosen.envs.absolute()
    return chosen.command(chosen)


def _install(chosen: argparse.Namespace) -> int:
    failed: list[str] = []
    for name in chosen.names or PEERS:
        print(f"{name} {PEERS[name].version} …", flush=True)
        try:
            environments.install(PEERS[name], chosen.envs)
        except NotInstalled as error:
            print(f"{name} could not be installed: {error}", flush=True)
            failed.append(name)
    return int(bool(failed))


def _run(chosen: argparse.Namespace) -> int:
    cores, names = two_cores(), chosen.names or list(TOOLS)
    where = {k: v for k, v in machine().items() if k != "versions"}
    print("  ".join(f"{k}={v}" for k, v in where.items()))
    print(f"{cores}; {chosen.rounds} answers of {ANSWER_S} s per stream", flush=True)
    if cores.server is not None:
        os.sched_setaffinity(0, {cores.server})  # this process only looks on: not on the client's
    results: list[Result] = []
    for _ in range(chosen.runs):
        for level in chosen.levels:
            for name in names:
                begin_s = time.monotonic()
                result = measure(TOOLS[name], level, chosen.rounds, chosen.envs, cores)
                results.append(result)
                said = result.words if isinstance(result, Failed) else "measured"
                took_s = time.monotonic() - begin_s
                print(f"{name} at {level}: {said} ({took_s:.0f} s)", file=sys.stderr, flush=True)
    print("\n" + tables(results, chosen.rounds))
    OUT.mkdir(exist_ok=True)
    versions = {name: TOOLS[name].version for name in names}
    content = {
        "machine": where,
        "cores": str(cores),
        "versions": versions,
        "rounds": chosen.rounds,
        "results": [asdict(r) for r in results],
    }
    (OUT / "peers.json").write_text(json.dumps(content, indent=1))
    return int(any(isinstance(r, Failed) for r in results))


if __name__ == "__main__":
    sys.exit(main())
