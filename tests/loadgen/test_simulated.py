"""What a sim:// target tells the simulator that the run starts."""

from pathlib import Path

import pytest

from loadgen.plan_target import Target
from loadgen.simulated import simulator_arguments

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
