"""Who may speak at the leader's port, of what, and in whose clock."""

import pytest

from loadgen.machines.clock_offset import RoundTrip
from loadgen.machines.post import Post
from loadgen.machines.switchboard import Switchboard
from loadgen.plan import parse
from loadgen.run_folder import RunFolder
from loadgen.version import VERSION

RUN = "run-uid"
HERE = {"run_uid": RUN, "worker": 1}
AHEAD_NS = 10**15  # so much is the other machine's clock ahead of ours


class Port:
    """What the switchboard does to the port."""

    def __init__(self):
        self.carried, self.delivered, self.seated = [], [], []

    def carry(self, node_id, kind, content):
        self.carried.append((node_id, kind, content))

    def deliver(self, kind, content):
        self.delivered.append((kind, content))

    def seat(self, node_id):
        self.seated.append(node_id)

    def unseat(self, node_id):
        self.seated.remove(node_id)


@pytest.fixture
def port():
    return Port()


@pytest.fixture
def board(tmp_path, port):
    folder = RunFolder(tmp_path / RUN)
    folder.spool.mkdir(parents=True)
    target = {"url": "http://x", "model": "m"}
    stages = [{"concurrency": 2, "requests": 2}]
    plan = parse({"target": target, "stages": stages, "machines": {"workers": 1}})
    (folder.path / "plan.json").write_bytes(plan.to_json())
    folder.write("run.json", {"run_uid": RUN, "n_workers": 2, "t0_mono_ns": 0})
    return Switchboard(folder, port)


def say(board, node_id, post, kind, content):
    board.take(node_id, "post", post.wrap(kind, content), "")


def test_a_load_worker_is_seated_by_its_first_words(board, port):
    assert board.take("n1", "here", HERE, "")
    assert port.seated == ["n1"]
    assert port.carried == [("n1", "seated", {})]
    board.take("n1", "here", HERE, "")  # our answer was lost
    assert port.seated == ["n1"]
    assert board.is_seated("n1")


def test_before_them_nothing_it_says_counts(board, port):
    say(board, "n1", Post(), "seats", {"worker": 1, "seats": 5})
    assert port.delivered == []


def test_a_number_too_many_is_refused(board, port):
    board.take("n1", "here", {"run_uid": RUN, "worker": 2}, "")
    assert port.seated == []
    assert port.carried[0][1] == "refused"


def test_locusts_own_messages_are_not_ours(board):
    assert not board.take("n1", "heartbeat", {"state": "ready"}, "")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("seats", {"worker": 0, "seats": 5}),  # another's name
        ("seats", {"worker": 1, "seats": "many"}),
        ("seats", "five"),
        ("quit", {"worker": 1}),
        ("pulse", {"worker": 1, "t_us": 1}),
        (["seats"], {"worker": 1, "seats": 1}),
    ],
)
def test_what_makes_no_sense_is_dropped_and_the_next_is_heard(board, port, kind, content):
    post = Post()
    board.take("n1", "here", HERE, "")
    say(board, "n1", post, kind, content)
    say(board, "n1", post, "seats", {"worker": 1, "seats": 5})
    assert port.delivered == [("seats", {"worker": 1, "seats": 5})]


@pytest.mark.parametrize("envelope", [{"no": 0}, {"no": 0, "kind": "seats"}, {"no": "0"}, None])
def test_an_envelope_that_lacks_something_is_dropped(board, port, envelope):
    board.take("n1", "here", HERE, "")
    board.take("n1", "post", envelope, "")
    assert port.delivered == []


def test_instants_are_told_in_the_clock_of_whom_they_are_told(board, port):
    board.take("n0", "here", {"run_uid": RUN, "worker": 0}, "")
    board.take("n1", "here", HERE, "")
    join = {"say": "join", "host": "b", "cpus": 1, "version": VERSION}
    board.take("outpost", "outpost", join, "10.0.0.7")
    place = board.outposts.of_worker(1)
    place.clock.add(RoundTrip(0, AHEAD_NS + 5, AHEAD_NS + 5, 10))
    port.carried.clear()
    board.tell("begin", {"begin_ns": 700, "stage": 0})
    told = {to: message["content"]["begin_ns"] for to, _, message in port.carried}
    assert told == {"n0": 700, "n1": 700 + AHEAD_NS}
    ended = {"worker": 1, "stage": 0, "end_ns": AHEAD_NS + 900, "issue_end_ns": AHEAD_NS + 800}
    say(board, "n1", Post(), "ended", ended)
    assert port.delivered == [
        ("ended", {"worker": 1, "stage": 0, "end_ns": 900, "issue_end_ns": 800})
    ]
    assert board.head_start_ns() > 0


def test_what_is_not_confirmed_is_sent_again(board, port):
    board.take("n1", "here", HERE, "")
    board.tell("warm", {"stage": 0})
    port.carried.clear()
    board.tend(is_look=True)
    board.tend(is_look=True)
    assert [kind for _, kind, _ in port.carried] == ["post"]
    board.take("n1", "got", {"below": 1}, "")
    port.carried.clear()
    board.tend(is_look=True)
    assert port.carried == []


def test_a_lost_worker_is_unseated_and_unheard(board, port):
    board.take("n1", "here", HERE, "")
    board.drop(1)
    assert port.seated == []
    say(board, "n1", Post(), "seats", {"worker": 1, "seats": 5})
    assert port.delivered == []
