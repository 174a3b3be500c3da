"""Every target that a class uses is asked before the load, and told apart in the run's record."""

import time

import pytest

from loadgen.crew import Crew
from loadgen.plan import parse
from loadgen.run_folder import RunFolder
from loadgen.target_facts import learn, targets_in_order
from tests.endpoints import GOOD_WITH_USAGE, endpoint, refusal

pytestmark = pytest.mark.slow


def plan(urls, *classes):
    main, *others = urls
    targets = {f"t{i}": {"url": url, "model": f"m{i}"} for i, url in enumerate(others)}
    return parse(
        {
            "target": {"url": main, "model": "m"},
            "targets": targets,
            "classes": list(classes),
            "stages": [{"concurrency": 1, "requests": 1}],
        }
    )


def learnt(a_plan, tmp_path):
    run = {"run_uid": "u", "t0_mono_ns": time.monotonic_ns()}
    crew = Crew(RunFolder(tmp_path))
    try:
        return learn(a_plan, run, crew), run
    finally:
        crew.end()


def answering(dropped=None, asked=None):
    def answer(_n, body):
        if asked is not None:
            asked.append(body)
        if dropped in body:
            return refusal(400, message=f"unknown field {dropped}")
        return GOOD_WITH_USAGE

    return answer


def test_each_target_has_facts_of_its_own_and_the_first_ones_stand_at_the_top(tmp_path):
    with endpoint(answering("stream_options")) as one, endpoint(answering("ignore_eos")) as two:
        a_plan = plan([one, two], {"name": "a"}, {"name": "b", "target": "t0"})
        trouble, run = learnt(a_plan, tmp_path)
    assert trouble is None
    assert list(run["targets"]) == ["main", "t0"]
    assert run["targets"]["main"]["dropped_fields"] == ["stream_options"] == run["dropped_fields"]
    assert run["targets"]["t0"]["dropped_fields"] == ["ignore_eos"]
    assert run["targets"]["t0"]["target_url"] == two
    assert run["targets"]["t0"]["model"] == "m0"
    assert run["target_url"] == one
    assert [note.split(": ")[0] for note in run["notes"]] == [one, two]


def test_a_target_that_no_class_uses_is_not_asked(tmp_path):
    with endpoint(answering()) as two:
        a_plan = plan(["http://127.0.0.1:1", two], {"name": "b", "target": "t0"})
        trouble, run = learnt(a_plan, tmp_path)
    assert trouble is None
    assert list(run["targets"]) == ["t0"] == list(targets_in_order(a_plan))
    assert run["target_url"] == two


def test_the_target_that_does_not_answer_is_named(tmp_path):
    with endpoint(answering()) as one:
        a_plan = plan([one, "http://127.0.0.1:1"], {"name": "a"}, {"name": "b", "target": "t0"})
        trouble, run = learnt(a_plan, tmp_path)
    assert "127.0.0.1:1 cannot be reached" in trouble
    assert trouble.endswith("(targets.t0)")
    assert run["targets"]["main"]["preflight"]["ok"]
    assert not run["targets"]["t0"]["preflight"]["ok"]


def test_classes_that_send_other_fields_to_one_target_are_each_asked(tmp_path):
    asked = []
    whole = {"stream": True, "extra_body": {"seed": 1}}
    with endpoint(answering("ignore_eos", asked)) as one:
        classes = (
            {"name": "a", "workload": {"ignore_eos": False}},
            {"name": "b"},
            {"name": "c", "workload": whole},
            {"name": "d"},
        )
        trouble, run = learnt(plan([one], *classes), tmp_path)
    assert trouble is None
    assert run["dropped_fields"] == ["ignore_eos"]
    assert len(asked) == 1 + 2 + 2  # d sends what b sends
    assert len(run["notes"]) == 1


def test_every_simulated_target_gets_a_simulator_of_its_own(tmp_path):
    a_plan = plan(["sim://null", "sim://null"], {"name": "a"}, {"name": "b", "target": "t0"})
    trouble, run = learnt(a_plan, tmp_path)
    assert trouble is None
    urls = {facts["target_url"] for facts in run["targets"].values()}
    assert len(urls) == 2
    assert all(url.startswith("http://127.0.0.1:") for url in urls)
