"""Which connection is which load worker, and who is refused."""

from loadgen.machines.roster import Roster

SECOND_NS = 1_000_000_000


def test_a_worker_is_admitted_once_by_its_number():
    roster = Roster("run", 2)
    assert roster.admit("a", {"run_uid": "run", "worker": 1}, 0) is None
    assert roster.of("a").worker == 1
    assert "has joined before" in roster.admit("b", {"run_uid": "run", "worker": 1}, 0)


def test_a_number_too_many_is_refused_aloud():
    refusal = Roster("run", 2).admit("a", {"run_uid": "run", "worker": 2}, 0)
    assert refusal == "it calls itself load worker 2 of 2."
    assert Roster("run", 2).admit("a", {"run_uid": "run", "worker": "1"}, 0)


def test_a_worker_of_another_run_is_refused():
    assert "another run" in Roster("run", 2).admit("a", {"run_uid": "old", "worker": 0}, 0)
    assert Roster("run", 2).admit("a", "hello", 0)


def test_a_lost_worker_does_not_come_back():
    roster = Roster("run", 2)
    roster.admit("a", {"run_uid": "run", "worker": 1}, 0)
    assert roster.give_up(1).node_id == "a"
    assert roster.of("a") is None
    assert "joined before" in roster.admit("a", {"run_uid": "run", "worker": 1}, 0)


def test_a_silence_that_ended_is_kept():
    roster = Roster("run", 1)
    roster.admit("a", {"run_uid": "run", "worker": 0}, 0)
    seated = roster.of("a")
    roster.heard(seated, 1 * SECOND_NS)
    roster.heard(seated, 7 * SECOND_NS)
    (outage,) = roster.outages
    assert (outage.worker, outage.from_ns, outage.for_ns) == (0, 1 * SECOND_NS, 6 * SECOND_NS)
