"""Who is lost: by its end, by what its outpost tells, by its silence."""

from pathlib import Path

import pytest

from loadgen.machines.homecoming import Homecoming
from loadgen.machines.place import Place
from loadgen.machines.roster import Roster
from loadgen.machines.worker_watch import WorkerWatch
from loadgen.run_folder import RunFolder

SECOND_NS = 1_000_000_000


class Remote:
    """Outposts as the watch reads them."""

    def __init__(self):
        home = Homecoming(RunFolder(Path("unused")), 1)
        self.place = Place(1, "gpu-7", "10.0.0.7", {}, home, 0)
        self.taken = {"a": self.place}

    def of_worker(self, worker):
        return self.place if worker == 1 else None


@pytest.fixture
def roster():
    made = Roster("run", 2)
    for worker in (0, 1):
        made.admit(f"n{worker}", {"run_uid": "run", "worker": worker}, 0)
    return made


@pytest.fixture
def remote():
    return Remote()


@pytest.fixture
def codes():
    return {}


@pytest.fixture
def watch(roster, remote, codes):
    return WorkerWatch(roster, remote, lambda: codes)


def heard(roster, worker, now_ns):
    roster.heard(roster.of_worker(worker), now_ns)


def follow(watch, roster, talking, until_s):
    """Look each second while only those talk; the losses."""
    found = []
    for second in range(until_s):
        for worker in talking:
            heard(roster, worker, second * SECOND_NS)
        found += watch.look(second * SECOND_NS, is_measuring=True)
    return found


def test_a_process_that_ended_is_lost_once(watch, codes):
    codes[0] = -9
    (loss,) = watch.look(0, is_measuring=True)
    assert (loss.worker, loss.name, loss.how) == (0, "Load worker 0", "was killed by signal 9")
    assert watch.look(1, is_measuring=True) == []


def test_what_an_outpost_tells_counts_and_its_machine_is_named(watch, remote):
    remote.place.worker_code = 1
    (loss,) = watch.look(0, is_measuring=True)
    assert loss.name == "Load worker 1 on gpu-7 (10.0.0.7)"
    assert loss.how == "ended with exit code 1"


def test_a_worker_that_is_silent_too_long_is_lost(watch, roster):
    (loss,) = follow(watch, roster, talking=[0], until_s=30)
    assert loss.worker == 1
    assert loss.how == "was not heard for 16 s"


def test_while_it_prepares_a_worker_may_be_silent_for_long(watch, roster):
    for second in range(60):
        assert watch.look(second * SECOND_NS, is_measuring=False) == []


def test_when_we_ourselves_were_away_nobody_is_blamed(watch, roster):
    follow(watch, roster, talking=[0, 1], until_s=3)
    assert watch.look(100 * SECOND_NS, is_measuring=True) == []
