"""From stages to levels: those known beforehand, and those that depend on the one before."""

import json

import pytest

from loadgen.level_watch import closed_streams
from loadgen.plan import ClosedLoop, OpenLoop, Plan, parse
from loadgen.probe_results import LevelSeen
from loadgen.program import Program, Shown, Step, known_levels

TTFT = {"metric": "ttft", "percentile": 95, "max_ms": 400}
SEARCH = {"kind": "search", "low": 1, "high": 32, "seconds": 30, "most_requests": 500}


def plan(*stages: dict, **more: object) -> Plan:
    target = {"url": "sim://null", "model": "m"}
    return parse({"target": target, "stages": list(stages), "slos": [TTFT], **more})


def level(stage: int, step: Step, plan: Plan, late: int, n: int = 200) -> Shown:
    """What a level shows of whose n judged requests the first `late` have a TTFT over the limit."""
    streams = closed_streams(plan, step.load)
    seen, first = LevelSeen(stage, streams, []), sum(streams.values())
    n += first
    began = [[k, stage, "default", True, k * 1000] for k in range(n)]
    ended = [
        [k, "complete", 900_000 if k < first + late else 1000, 1, 1, 9_000, k * 1000 + 10_000, 10]
        for k in range(n)
    ]
    seen.add({0: [{"t_us": 10**9, "requests": {"began": began, "ended": ended}}]})
    return Shown(stage, seen, (0, n * 1000))


def carried_out(plan: Plan, late) -> tuple[list[Step], Program]:
    """The levels of a run; late(load) -> how many of 200 requests are over the limit."""
    program, steps, shown = Program(plan), [], None
    while step := program.next(shown):
        shown = level(len(steps), step, plan, late(step.load)) if step.is_watched else None
        steps.append(step)
    return steps, program


def test_stages_follow_each_other_and_a_sweeps_levels_are_all_known():
    sweep = {"kind": "sweep", "concurrency": [1, 4], "requests": 9, "warmup_s": 1, "seconds": 5}
    rates = {"kind": "sweep", "rate_per_s": [2.5], "seconds": 3, "arrivals": "constant"}
    asked = plan({"concurrency": 2, "requests": 5}, sweep, {"kind": "idle", "seconds": 1}, rates)
    steps, program = carried_out(asked, lambda _: 0)
    assert [(step.load.name, step.asked) for step in steps] == [
        ("c=2", 0), ("c=1", 1), ("c=4", 1), ("idle", 2), ("2.5/s", 3),
    ]  # fmt: skip
    last = steps[-1].load
    assert isinstance(last, OpenLoop)
    assert (last.arrivals, last.seconds, last.requests) == ("constant", 3, None)
    assert (steps[1].load.requests, steps[1].load.warmup_s) == (9, 1)
    assert not any(step.is_watched for step in steps)
    assert program.answers == []
    assert [load.name for load in known_levels(asked) or []] == [s.load.name for s in steps]


def test_a_search_probes_until_it_knows_and_says_what_each_level_is_for():
    asked = plan(SEARCH)
    steps, program = carried_out(asked, lambda load: 0 if load.concurrency <= 12 else 100)
    assert [step.load.name for step in steps] == ["c=1", "c=2", "c=4", "c=8", "c=16", "c=12",
                                                  "c=14", "c=13"]  # fmt: skip
    assert steps[0].why == "probe 1 of the search: the first"
    assert steps[5].why == (
        "probe 6 of the search: between the 8 that held and the 16 that did not"
    )
    assert all(isinstance(step.load, ClosedLoop) for step in steps)
    assert {(step.load.seconds, step.load.requests) for step in steps} == {(30, 500)}
    (answer,) = program.answers
    assert (answer["value"], answer["low"], answer["high"]) == (12, 12, 13)
    assert (answer["is_done"], answer["asked"], answer["levels"]) == (True, 0, list(range(8)))
    assert answer["sentence"].startswith("The objectives hold up to 12 streams and fail at 13")
    assert json.loads(json.dumps(answer)) == json.loads(json.dumps(program.answers[0]))


def test_a_search_over_a_rate_sends_arrivals():
    search = {**SEARCH, "over": "rate_per_s", "low": 0.5, "high": 2, "arrivals": "constant"}
    steps, program = carried_out(plan(search), lambda _: 0)
    assert [step.load.name for step in steps] == ["0.5/s", "1/s", "2/s"]
    assert all(isinstance(s.load, OpenLoop) and s.load.arrivals == "constant" for s in steps)
    assert program.answers[0]["end"] == "at_least"


def test_what_a_search_knows_is_there_while_it_goes_on():
    asked = plan(SEARCH)
    program = Program(asked)
    first = program.next(None)
    assert first is not None
    assert (program.answers[0]["is_done"], program.answers[0]["end"]) == (False, "untold")
    program.next(level(0, first, asked, late=0))
    assert program.answers[0]["low"] == 1
    assert program.answers[0]["sentence"].startswith("So far: The objectives hold up to 1 stream;")


def test_a_stage_after_a_search_follows_it():
    steps, _ = carried_out(plan(SEARCH, {"concurrency": 3, "requests": 5}), lambda _: 100)
    assert [(step.load.name, step.asked) for step in steps] == [("c=1", 0), ("c=3", 1)]


def test_a_search_without_objectives_is_refused():
    with pytest.raises(ValueError, match="no objectives"):
        Program(plan(SEARCH).model_copy(update={"slos": []})).next(None)


def judged(late: int, n: int, rate: bool = False) -> bool:
    """Whether a probe that still goes on is clear after so many requests."""
    asked = plan({**SEARCH, "over": "rate_per_s"} if rate else SEARCH)
    step = Program(asked).next(None)
    assert step is not None
    assert step.judge is not None
    return step.judge.is_clear(level(0, step, asked, late, n).seen)


def test_a_probe_is_clear_when_bounds_that_allow_for_looking_often_say_so():
    assert not judged(late=0, n=73)
    assert judged(late=0, n=74)
    assert not judged(late=1, n=74)
    assert judged(late=20, n=20)


def test_nothing_is_said_of_a_few_requests_that_may_have_met_the_same_trouble():
    assert not judged(late=19, n=19)


def test_arrivals_are_clear_early_only_if_they_fail():
    """A queue that grows is not long at first."""
    assert not judged(late=0, n=200, rate=True)
    assert judged(late=20, n=74, rate=True)


def test_at_its_end_a_probe_of_arrivals_counts_all_its_requests():
    asked = plan({**SEARCH, "over": "rate_per_s"})
    step = Program(asked).next(None)
    assert step is not None
    assert step.judge is not None
    (tally,) = step.judge.result(level(0, step, asked, late=1, n=200).seen).tallies
    assert (tally.n, tally.misses) == (200, 1)


def test_a_second_probe_of_a_load_goes_on_where_the_first_ended():
    asked = plan({**SEARCH, "high": 1})
    program = Program(asked)
    first = program.next(None)
    assert first is not None
    second = program.next(level(0, first, asked, late=0, n=60))
    assert second is not None
    assert second.load.requests == 440
    assert second.why == "probe 2 of the search: the same once more, for it was not clear"
    assert second.judge is not None
    assert not second.judge.is_clear(level(1, second, asked, late=0, n=19).seen)
    assert second.judge.is_clear(level(1, second, asked, late=0, n=20).seen)
    assert program.next(level(1, second, asked, late=0, n=20)) is None
    assert program.answers[0]["probes"][0]["times"] == 2
    assert program.answers[0]["probes"][0]["tallies"][0]["n"] == 80


def test_the_warm_up_is_no_part_of_a_levels_throughput():
    def found(warmup_s: int) -> object:
        doubling = {"start": 2, "most": 2}
        asked = plan({"kind": "sweep", "doubling": doubling, "requests": 40, "warmup_s": warmup_s})
        program = Program(asked)
        step = program.next(None)
        assert step is not None
        shown = level(0, step, asked, 0)
        begin_us, end_us = shown.issue_us
        program.next(Shown(0, shown.seen, (begin_us - warmup_s * 1_000_000, end_us)))
        return program.answers[0]["tokens_per_s"]

    assert found(warmup_s=5) == found(warmup_s=0)


def test_a_sweep_by_doubling_ends_where_throughput_does():
    sweep = {"kind": "sweep", "doubling": {"start": 1, "most": 64}, "requests": 40}
    asked = plan(sweep)
    program, steps, shown = Program(asked), [], None
    while step := program.next(shown):
        assert isinstance(step.load, ClosedLoop)
        steps.append(step)
        shown = paced(len(steps), asked, step, per_s=min(step.load.peak, 10))
    assert [step.load.name for step in steps] == ["c=1", "c=2", "c=4", "c=8", "c=16", "c=32"]
    assert steps[1].why == "level 2 of the sweep by doubling"
    (answer,) = program.answers
    assert answer["sentence"].endswith("saturated.")
    assert answer["levels"] == [1, 2, 3, 4, 5, 6]
    assert [value for value, _ in answer["tokens_per_s"]] == [1, 2, 4, 8, 16, 32]


def paced(stage: int, asked: Plan, step: Step, per_s: float) -> Shown:
    """Streams whose answers of 10 tokens come so often that all together make per_s answers/s."""
    streams = closed_streams(asked, step.load)
    (n,) = streams.values()
    answer_us = round(n / per_s * 1e6)
    rows = [(k, k // n * answer_us) for k in range(4 * n)]
    seen = LevelSeen(stage, streams, [])
    began = [[k, stage, "default", True, us] for k, us in rows]
    ended = [[k, "complete", 1, 1, 1, answer_us, us + answer_us, 10] for k, us in rows]
    seen.add({0: [{"t_us": 10**9, "requests": {"began": began, "ended": ended}}]})
    return Shown(stage, seen, (0, 4 * answer_us))


def test_how_many_levels_there_will_be_is_not_known_where_they_depend_on_each_other():
    assert known_levels(plan({"concurrency": 1, "requests": 1}, SEARCH)) is None
    assert known_levels(plan({"kind": "sweep", "doubling": {}, "requests": 9})) is None


def test_streams_are_counted_by_class():
    classes = [
        {"name": "chat", "share": 3},
        {"name": "code", "share": 1},
        {"name": "batch", "load": {"concurrency": 2}},
        {"name": "cron", "load": {"rate_per_s": 1}},
    ]
    asked = plan(SEARCH, classes=classes)
    assert closed_streams(asked, ClosedLoop(concurrency=8, seconds=9)) == {
        "chat": 6, "code": 2, "batch": 2,
    }  # fmt: skip
    assert closed_streams(asked, OpenLoop(rate_per_s=8, seconds=9)) == {"batch": 2}
