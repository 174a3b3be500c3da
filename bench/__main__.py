"""`python -m bench [NAME...] [--runs N]`: run the benches, print tables, keep bench/out/*.json."""

import argparse
import sys
import traceback
from collections.abc import Callable

from bench.big_plan import big_plan
from bench.client_cost import client_cost
from bench.client_error import client_error
from bench.decoder_cost import decoder_cost
from bench.figures import Figure, keep, machine, over_runs, table
from bench.first_page import first_page
from bench.import_cost import import_cost
from bench.many_streams import many_streams
from bench.open_loop import open_loop
from bench.run_page import run_page
from bench.simulator_speed import simulator_speed
from bench.spawn import spawn
from bench.store_cost import store_cost
from bench.store_scale import store_scale
from bench.tls_cost import tls_cost
from bench.trace_replay import trace_replay
from bench.truth_speed import truth_speed
from bench.two_workers import two_workers

BENCHES: dict[str, Callable[[int], list[Figure]]] = {
    "truth_speed": truth_speed,
    "client_error": client_error,
    "client_cost": client_cost,
    "decoder_cost": decoder_cost,
    "many_streams": many_streams,
    "open_loop": open_loop,
    "trace_replay": trace_replay,
    "two_workers": two_workers,
    "tls_cost": tls_cost,
    "simulator_speed": simulator_speed,
    "store_cost": store_cost,
    "import_cost": import_cost,
    "store_scale": store_scale,
    "first_page": first_page,
    "run_page": run_page,
    "big_plan": big_plan,
    "spawn": spawn,
}


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    options.add_argument("--runs", type=int, default=1, help="repetitions; the median is shown")
    chosen = options.parse_args()
    if unknown := set(chosen.names) - set(BENCHES):
        options.error(f"no bench {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    print("  ".join(f"{k}={v}" for k, v in machine().items() if k != "versions"), flush=True)
    found: dict[str, list[list[Figure]]] = {n: [] for n in chosen.names or BENCHES}
    broken: set[str] = set()
    for turn in range(chosen.runs):  # turn by turn: benches of one turn share their run
        for name in [n for n in found if n not in broken]:
            try:
                found[name].append(BENCHES[name](turn))
            except Exception:  # one broken piece must not hide the other figures
                traceback.print_exc()
                broken.add(name)
                continue
            rows = over_runs(found[name])
            keep(name, rows)
            print("\n" + table(name, rows), flush=True)
    if broken:
        print(f"\ncould not run: {', '.join(sorted(broken))}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
