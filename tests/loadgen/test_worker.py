"""A load worker that is spoken to by messages, of which what it says is kept."""

import time

import gevent
import pytest

from loadgen.levels import Level
from loadgen.plan import parse
from loadgen.prompts.counting import WordCounter
from loadgen.prompts.material import FOLDER, save
from loadgen.prompts.stock import make_stock
from loadgen.run_folder import RunFolder
from loadgen.schedule import Shard
from loadgen.seats import Role
from loadgen.worker import Worker

LEVEL = {"kind": "closed", "concurrency": 1, "seconds": 5}


class Line:
    """What the worker said."""

    def __init__(self):
        self.said = []

    def send(self, kind, content):
        self.said.append((kind, content))


@pytest.fixture
def worker(tmp_path):
    folder = RunFolder(tmp_path / "run-uid")
    folder.spool.mkdir(parents=True)
    target = {"url": "http://127.0.0.1:1", "model": "m"}
    plan = parse({"target": target, "stages": [LEVEL]})
    (folder.path / "plan.json").write_bytes(plan.to_json())
    run = {"run_uid": "run-uid", "n_workers": 1, "t0_mono_ns": 0, "target_url": target["url"]}
    folder.write("run.json", run)
    (folder.path / FOLDER).mkdir()
    save(folder.path / FOLDER, "run-uid", [make_stock(WordCounter(), 1)], [None])
    worker = Worker(folder, 0, Line())
    yield worker
    worker.close()


def faults_of(worker):
    gevent.sleep(0)  # they are sent by greenlets
    return [content["why"] for kind, content in worker._line.said if kind == "fault"]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("begin", {}),
        ("warm", {"stage": 0, "load": {"kind": "of no kind"}, "among": [0]}),
    ],
)
def test_a_message_that_cannot_be_obeyed_ends_the_run_instead_of_being_waited_for(
    worker, kind, content
):
    worker.obey(kind, content)
    (why,) = faults_of(worker)
    assert why.startswith("The load generator itself failed (")


def test_a_mistake_in_a_users_role_ends_the_run_and_its_level(worker):
    plan = parse({"target": {"url": "http://127.0.0.1:1", "model": "m"}, "stages": [LEVEL]})
    share = Shard(plan, 0, 1).share(0, plan.stages[0])
    no_such_seat = Role(0, -5)
    level = Level(0, plan.stages[0], share, [no_such_seat], time.monotonic_ns())
    user = gevent.spawn(worker.sit)
    gevent.sleep(0)
    worker.begin(level)
    assert "IndexError" in faults_of(worker)[0]
    assert level.stopped.is_set()
    user.kill()


def test_a_spool_that_takes_nothing_any_more_is_said_in_its_own_words(worker):
    worker._spool.seal()
    worker._beat()
    (why,) = faults_of(worker)
    assert why.startswith("The spool")
