"""A load worker that dies before the level's clock has started, when nobody measures anything."""

import pytest
from outposts import assert_said

from loadgen.processes import group

pytestmark = pytest.mark.slow
LEVELS = [
    {"concurrency": 2, "requests": 4},
    {"rate_per_s": 100, "seconds": 4_000},  # so many arrivals that to make it ready takes a moment
]


def test_a_worker_lost_while_a_level_is_made_ready_leaves_its_load_to_the_others(runs):
    choice = {"workers": 0, "when_lost": "go_on"}
    run = runs.start(*LEVELS, workers=2, machines=choice, limits={"requests": 64})
    runs.wait(run, lambda state: state["message"].startswith("Preparing 100/s"))
    proc = runs.folder(run).read("proc.json")
    next(p for p in group(proc) if "loadgen.locustfile" in p.cmdline()).kill()
    state = runs.end(run)
    assert state["state"] == "finished", state["message"]
    assert_said("^Load worker 0 was killed by signal 9; the run goes on", state["notes"])
    requests = runs.requests(run)
    level = requests[requests["stage"] == 1]
    assert len(level) == 60
    assert set(level["worker"]) == {1}
