from analysis.forecast_advice import level_advice
from analysis.sample_size import USUAL
from loadgen.forecast_levels import forecast_levels
from loadgen.plan import parse

TARGET = {"url": "http://127.0.0.1:9", "model": "m"}


def advice_of(stages, **more):
    plan = parse({"target": TARGET, "stages": stages, **more})
    names = [traffic.name for traffic in plan.traffic()]
    return level_advice(list(forecast_levels(plan)), names, USUAL)


def test_each_level_says_what_its_requests_are_enough_for():
    told = advice_of([{"concurrency": c, "requests": 30 * c} for c in (1, 16)])
    assert [said.partition(":")[0] for said in told[:-1]] == ["c=1", "c=16"]
    assert "30 requests" in told[0]
    assert "enough for p95 and p99" not in told[1]
    assert "no earlier run" in told[-1]


def test_of_many_levels_the_smallest_and_the_largest_are_said():
    told = advice_of([{"concurrency": c, "requests": 10 * c} for c in range(1, 9)])
    assert [said.partition(":")[0] for said in told[:-1]] == ["c=1", "c=8"]


def test_levels_found_while_it_runs_are_not_guessed_at():
    search = {
        "kind": "search", "over": "concurrency", "low": 1, "high": 64, "seconds": 10,
    }  # fmt: skip
    slos = [{"metric": "ttft", "percentile": 95, "max_ms": 500}]
    assert advice_of([search], slos=slos) == []
