"""Limits of a whole run end it by name: exactly for requests, by what the decoders count else."""

import orjson
import pytest

from loadgen.limits_watch import LimitsWatch, Used
from loadgen.plan import parse
from loadgen.run_ended import ENDED_BY, RunEnded
from loadgen.seats import Role


def plan(**limits):
    prices = {"usd_per_m_input": 1, "usd_per_m_output": 10}
    target = {"url": "http://h", "model": "m", "prices": prices}
    return parse(
        {
            "target": target,
            "targets": {"b": {**target, "prices": {"usd_per_m_output": 2}}},
            "classes": [{"name": "a"}, {"name": "b", "target": "b"}],
            "stages": [{"concurrency": 4, "requests": 5}],
            "limits": limits,
        }
    )


def line(outcomes=None, **used):
    return {"t_us": 5, "used": used, "outcomes": outcomes or {"complete": 1}}


def users(*counts):
    return [[Role(0, n) for n in range(count)] for count in counts]


def watch(tmp_path, lines=(), **limits):
    text = b"".join(orjson.dumps(each) + b"\n" for each in lines)
    (tmp_path / "live-0.jsonl").write_bytes(text)
    return LimitsWatch(plan(**limits), tmp_path)


def check(limits):
    limits.check(5, [0], lambda _: None)


def pulse(worker, sent):
    return {"worker": worker, "sent": sent}


def test_requests_are_shared_out_before_a_level_and_never_exceed_the_limit(tmp_path):
    limits = watch(tmp_path, requests=100)
    assert limits.begin(users(3, 1)) == [75, 25]
    limits.used.pulse(pulse(0, 60))
    limits.used.pulse(pulse(1, 11))
    limits.used.pulse(pulse(1, 20))  # since the run began, as each pulse counts
    assert sum(limits.begin(users(1, 1, 1))) == 20
    limits.used.pulse(pulse(0, 80))
    assert limits.is_enough()
    with pytest.raises(RunEnded, match=r"^Ended by limits\.requests \(100\) after 100 requests;"):
        check(limits)


def test_without_such_a_limit_every_worker_begins_what_it_likes(tmp_path):
    limits = watch(tmp_path)
    assert limits.begin(users(3, 1)) == [None, None]
    assert not limits.is_enough()
    check(limits)


def test_a_pause_asks_for_nothing(tmp_path):
    assert watch(tmp_path, requests=5).begin([[], []]) == [0, 0]


def test_tokens_are_those_of_prompts_and_answers_of_all_targets(tmp_path):
    limits = watch(tmp_path, [line(main=[300, 100]), line(b=[5, 7])], tokens=412)
    limits.begin(users(1))
    assert limits.is_enough()
    assert not limits.is_enough()  # told once in a level
    with pytest.raises(RunEnded, match=r"limits\.tokens \(412\) after 412 tokens") as ended:
        check(limits)
    assert ended.value.state == "finished"
    assert ended.value.message.startswith(ENDED_BY)


def test_dollars_are_counted_by_each_targets_own_prices():
    prices = {name: target.prices for name, target in plan().targets_used().items()}
    used = Used(prices)
    used.add([line(main=[1_000_000, 100_000], b=[1_000_000, 500_000])])
    assert used.dollars == pytest.approx(1 + 1 + 1)


def test_seconds_count_from_the_first_level(tmp_path):
    limits = watch(tmp_path, seconds=0.000001)
    check(limits)
    limits.begin(users(1))
    with pytest.raises(RunEnded, match=r"limits\.seconds \(1e-06\) after"):
        check(limits)


def test_a_share_of_failures_ends_a_run_as_failed_but_not_before_fifty_answers(tmp_path):
    many = {"complete": 30, "timeout": 19, "cancelled": 500, "not_sent": 500}
    limits = watch(tmp_path, [line(many)], failed_share=0.3)
    assert not limits.is_enough()
    with (tmp_path / "live-0.jsonl").open("ab") as file:
        file.write(orjson.dumps(line({"reset": 1})) + b"\n")
    with pytest.raises(RunEnded, match=r"^20 of 50 answers failed.*limits\.failed_share") as ended:
        check(limits)
    assert ended.value.state == "failed"


def test_what_was_in_flight_when_the_limit_was_reached_is_counted_before_the_run_ends(tmp_path):
    limits = watch(tmp_path, [line(main=[300, 100])], tokens=400)

    def decode(_seconds):
        with (tmp_path / "live-0.jsonl").open("ab") as file:
            file.write(orjson.dumps(line(main=[30, 20]) | {"t_us": 900}) + b"\n")

    with pytest.raises(RunEnded, match=r"limits\.tokens \(400\) after 450 tokens"):
        limits.check(900, [0], decode)
