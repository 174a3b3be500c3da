"""A plan with a million scheduled requests: how long until all is known, and in how much memory?"""

import json
import subprocess
import sys
from typing import Any

from bench.figures import Figure
from bench.processes import ROOT

REQUESTS = 1_000_000
PLAN: dict[str, Any] = {
    "target": {"url": "http://127.0.0.1:1", "model": "m"},
    "classes": [
        {
            "name": "chat",
            "share": 3,
            "workload": {
                "prompt_tokens": {"kind": "lognormal", "median": 300, "sigma": 0.8},
                "output_tokens": {"kind": "lognormal", "median": 150, "sigma": 0.7},
                "prefix": {"tokens": 200, "share": 0.8, "groups": 50},
            },
        },
        {
            "name": "search",
            "workload": {"prompt_tokens": {"kind": "normal", "mean": 8000, "sd": 900}},
        },
    ],
    "stages": [
        {
            "rate_per_s": {"shape": "day", "low": 20, "high": 200},
            "requests": REQUESTS,
            "seconds": 36_000,
        }
    ],
}
# In a process of its own, whose memory is the plan's.  Times: what a worker does before a level's
# clock starts; then the lengths and prefix of each request, which a worker draws as it goes.
CHILD = """
import json, resource, sys, time
from loadgen.level_schedule import LevelSchedule
from loadgen.plan import parse
from loadgen.schedule import Shard
plan = parse(json.loads(sys.argv[1]))
load = plan.stages[0]
begin = time.process_time()
share = Shard(plan, 0, 1).share(0, load)
times_s = time.process_time() - begin
schedule, n, tokens, shared = LevelSchedule(plan, 0, load), 0, 0, 0
for visit in share.arrivals():
    drawn = schedule.drawn(visit.traffic, visit.number)
    n += 1
    tokens += drawn.prompt_tokens + drawn.output_tokens
    shared += drawn.prefix_group is not None
whole_s = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([n, times_s, whole_s, peak, tokens / n, shared / n]))
"""


def big_plan(_turn: int) -> list[Figure]:
    """A day's curve, two classes: times of all arrivals, then their lengths and prefixes."""
    command = [sys.executable, "-c", CHILD, json.dumps(PLAN)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    n, times_s, whole_s, peak_mib, tokens, shared = json.loads(done.stdout)
    return [
        Figure("requests scheduled", n, ""),
        Figure("CPU until times and classes are known", times_s, "s"),
        Figure("CPU until lengths and prefix ids are, too", whole_s, "s", "<= 20"),
        Figure("peak memory of the process", peak_mib, "MiB", "<= 1024"),
        Figure("tokens per request", tokens, ""),
        Figure("requests with a shared prefix", 100 * shared, "%"),
    ]
