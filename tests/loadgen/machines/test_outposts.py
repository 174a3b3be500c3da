"""The leader's side of outposts, spoken to by messages alone."""

import json

import pytest

from loadgen.machines.outposts import Outposts
from loadgen.run_folder import RunFolder
from loadgen.version import VERSION

SECOND_NS = 1_000_000_000
JOIN = {"say": "join", "host": "gpu-7", "cpus": 8, "version": VERSION}


class Leader:
    """Outposts, with what they sent."""

    def __init__(self, path, n_places=1):
        self.folder = RunFolder(path / "run-uid")
        self.folder.spool.mkdir(parents=True)
        (path / "ca.pem").write_text("authorities")
        target = {"url": "http://x", "model": "m", "ca_file": str(path / "ca.pem")}
        plan = {"target": target, "stages": []}
        (self.folder.path / "plan.json").write_text(json.dumps(plan))
        run = {"run_uid": "run-uid", "n_workers": 1 + n_places, "t0_mono_ns": 5 * SECOND_NS}
        self.folder.write("run.json", {**run, "target_url": "http://x", "secret": "of the leader"})
        self.sent = []
        places = range(1, 1 + n_places)
        self.outposts = Outposts(self.folder, places, lambda to, m: self.sent.append((to, m)))

    def hear(self, said, outpost="a", now_ns=0):
        self.sent.clear()
        self.outposts.hear(outpost, said, "10.0.0.7", now_ns)
        return {m["say"]: m for to, m in self.sent if to == outpost}

    def beat(self, outpost="a", now_ns=0, **change):
        said = {"say": "beat", "run_uid": "run-uid", "is_ready": True, "problem": None}
        said |= {"worker_code": None, "unsent_bytes": 0, "is_leaving": False, "is_home": False}
        return self.hear(said | change, outpost, now_ns)


@pytest.fixture
def leader(tmp_path):
    return Leader(tmp_path)


def test_a_joiner_gets_a_number_the_plan_and_only_the_facts_it_needs(leader):
    welcome = leader.hear(JOIN)["welcome"]
    assert welcome["worker"] == 1
    assert welcome["plan"]["target"]["url"] == "http://x"
    assert set(welcome["run"]) == {
        "run_uid", "n_workers", "target_url", "http", "dropped_fields", "targets"
    }  # fmt: skip
    assert [path.rpartition("/")[2] for path in welcome["files"]] == ["ca.pem"]


def test_a_file_of_the_plan_is_handed_out_in_pieces(leader):
    leader.hear(JOIN)
    part = leader.hear({"say": "fetch", "run_uid": "run-uid", "file": 0, "offset": 0})["part"]
    assert part["bytes"] == b"authorities"


def test_one_too_many_waits_and_is_told_why(leader):
    leader.hear(JOIN)
    assert "has all its load workers" in leader.hear(JOIN, "b")["wait"]["why"]


def test_another_version_is_refused_by_name(leader):
    why = leader.hear({**JOIN, "version": "0.0.1"})["wait"]["why"]
    assert "Headway 0.0.1" in why
    assert "gpu-7 (10.0.0.7)" in leader.outposts.refused["a"]


def test_a_place_whose_outpost_went_away_before_the_load_is_free_again(leader):
    leader.hear(JOIN)
    leader.outposts.forget_silent(1)
    assert leader.hear(JOIN, "b", 2)["welcome"]["worker"] == 1


def test_the_load_begins_in_the_outposts_own_clock(leader):
    ping = leader.hear(JOIN)["ping"]
    theirs = 100 * SECOND_NS
    pong = {"say": "pong", "asked_ns": ping["asked_ns"], "got_ns": theirs, "sent_ns": theirs}
    leader.hear(pong, now_ns=20)  # asked at 0, answered at 20: they read 100 s at 10
    leader.outposts.enter("load")
    do = leader.beat(now_ns=20)["do"]
    assert do["phase"] == "load"
    assert do["t0_mono_ns"] == 105 * SECOND_NS - 10
    (place,) = leader.outposts.taken.values()
    assert place.record(20)["offset_ns"] == theirs - 10
    assert place.record(20)["error_ns"] == 10


def test_without_a_known_clock_no_load_begins(leader):
    leader.hear(JOIN)
    leader.outposts.enter("load")
    assert "do" not in leader.beat()


def test_a_pong_that_was_not_asked_for_tells_nothing(leader):
    leader.hear(JOIN)
    leader.hear({"say": "pong", "asked_ns": 7, "got_ns": 7, "sent_ns": 7}, now_ns=9)
    assert leader.outposts.of_worker(1).clock.at(9) is None


def test_a_host_that_cannot_play_its_part_is_named(leader):
    leader.hear(JOIN)
    leader.beat(is_ready=False, problem="the environment variable K is not set there.")
    assert leader.outposts.problems == [
        "The machine gpu-7 (10.0.0.7) cannot load: the environment variable K is not set there."
    ]


def test_a_worker_that_was_given_up_is_told_to_leave_now(leader):
    leader.hear(JOIN)
    leader.outposts.enter("load")
    leader.outposts.end(1)
    do = leader.beat()["do"]
    assert (do["phase"], do["now"]) == ("leave", True)


def test_when_all_has_come_home_the_store_is_told(leader):
    leader.hear(JOIN)
    leader.beat(is_home=True)
    assert (leader.folder.spool / "decoded-w1").exists()


def test_an_outpost_of_a_run_before_this_is_told_so(leader):
    do = leader.beat("old", run_uid="old-run")["do"]
    assert (do["run_uid"], do["phase"]) == ("old-run", "unknown")


@pytest.mark.parametrize(
    "nonsense",
    [
        {},
        {"say": "fetch", "run_uid": "run-uid", "file": 9, "offset": 0},
        {"say": "fetch", "run_uid": "run-uid", "file": "/etc/shadow", "offset": 0},
        {"say": "fetch", "run_uid": "run-uid", "file": 0, "offset": -5},
        {"say": "piece", "run_uid": "run-uid"},
        {"say": "piece", "run_uid": "another"},
        {"say": "beat", "run_uid": "run-uid"},
        {"say": "pong"},
        {"say": ["join"]},
        {"say": "join"},
    ],
)
def test_nonsense_is_dropped_and_harms_nobody(leader, nonsense):
    leader.hear(JOIN)
    assert not leader.hear(nonsense).keys() - {"welcome"}
    leader.hear(nonsense, "b")
    assert leader.beat()["do"]["phase"] == "prepare"


def test_an_outpost_that_is_done_with_the_run_waits_for_the_next_one(leader):
    leader.hear(JOIN)
    leader.outposts.enter("over")
    answers = leader.hear(JOIN)
    assert "it may join the next run" in answers["wait"]["why"]
    assert "welcome" not in answers


@pytest.mark.parametrize(
    "nonsense",
    [
        {"say": "pong", "asked_ns": 0, "got_ns": "now", "sent_ns": 1},
        {"say": "fetch", "run_uid": "run-uid", "file": 0, "offset": 2**64 - 1},
        {"say": "beat", "run_uid": "run-uid", "is_ready": 1, "is_leaving": 0}
        | {"unsent_bytes": float("inf")},
        {"say": "beat", "run_uid": "run-uid"},
        {"say": ["beat"]},
        {},
    ],
)
def test_what_makes_no_sense_is_dropped_and_nothing_breaks_later(leader, nonsense):
    leader.hear(JOIN)
    leader.hear(nonsense, now_ns=5)
    assert leader.outposts.of_worker(1).clock.at(9) is None
    assert leader.beat(now_ns=6)["do"]["phase"] == "prepare"
