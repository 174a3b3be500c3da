"""Fields that would have no effect are refused where they stand."""

import pytest

from loadgen.plan import PlanError, parse

TARGET = {"url": "http://127.0.0.1:8000/v1", "model": "m"}
REPLAY = {"kind": "replay", "file": "/trace.csv"}
CLOSED = {"concurrency": 1, "requests": 3}
PREFIX, TALK = {"prefix": {"tokens": 5}}, {"conversation": {"turns": 3}}
OWN = {"name": "own", "load": {"concurrency": 1}}
CHAT = {"name": "chat"}


def problems(*stages, **more):
    try:
        parse({"target": TARGET, "stages": list(stages), **more})
    except PlanError as error:
        return error.problems
    return []


def test_a_class_with_a_load_of_its_own_has_no_share():
    (told,) = problems(CLOSED, classes=[CHAT, {**OWN, "share": 3}])
    assert told.startswith("classes[1].share is 3, but the class brings a load of its own")
    assert problems(CLOSED, classes=[{**CHAT, "share": 3}, OWN]) == []


@pytest.mark.parametrize(("work", "name"), [(PREFIX, "prefix"), (TALK, "conversation")])
def test_a_trace_alone_says_what_its_requests_share(work, name):
    public = {**REPLAY, "format": "azure"}
    (told,) = problems(public, {"kind": "idle", "seconds": 1}, workload=work)
    assert told.startswith(f"workload.{name} is given, but every stage replays a trace")
    assert problems(REPLAY, CLOSED, workload=work) == []
    assert problems(REPLAY, classes=[CHAT, {**OWN, "workload": work}]) == []


@pytest.mark.parametrize("format_", ["auto", "csv", "jsonl"])
def test_a_trace_of_ones_own_may_name_groups_whose_prefix_the_plan_measures(format_):
    assert problems({**REPLAY, "format": format_}, workload=PREFIX) == []
    assert problems({**REPLAY, "format": format_}, workload=TALK) != []
