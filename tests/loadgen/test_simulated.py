"""What a sim:// target tells the simulator that the run starts."""

from itertools import islice
from pathlib import Path

import pytest

from loadgen.plan import load
from loadgen.plan_target import Target
from loadgen.simulated import simulator_arguments
from simulator.profiles import adjusted, profile_named

USUAL = ["--port", "0", "--profile", "small-gpu", "--model", "m", "--with-parent"]


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("", []),
        ("?truth", ["--truth", "t.jsonl"]),
        ("?freeze_at_s=5&freeze_s=2", ["--set", "freeze_at_s=5", "--set", "freeze_s=2"]),
        ("?max_batch=4&truth", ["--truth", "t.jsonl", "--set", "max_batch=4"]),
        ("?refuse_fields=a%2Cb", ["--set", "refuse_fields=a,b"]),
        ("?tryth", ["--set", "tryth"]),  # the simulator says what is wrong with it
    ],
)
def test_the_words_of_the_query_are_the_simulators_settings(query: str, more: list[str]):
    target = Target(url=f"sim://small-gpu{query}", model="m")
    assert simulator_arguments(target, Path("t.jsonl")) == [*USUAL, *more]


def test_the_plan_of_the_docs_freezes_once_in_each_of_its_levels():
    plan = load(Path(__file__).parents[2] / "docs" / "freeze.toml")
    told = simulator_arguments(plan.target, Path("unused"))
    settings = [told[k + 1] for k, word in enumerate(told) if word == "--set"]
    freezes = adjusted(profile_named("small-gpu"), settings).freezes
    for ready_s in (1.0, 5.0, 10.0, 17.0):  # the simulator's first request was so long before
        begin_s = ready_s
        for stage in plan.stages:
            end_s = begin_s + (stage.seconds or 0)
            within = [t for t in islice(freezes.begins_s(), 9) if begin_s <= t < end_s]
            assert len(within) == 1
            assert within[0] + freezes.freeze_s < end_s
            begin_s = end_s + 1  # until the next level is ready
