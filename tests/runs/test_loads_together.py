"""Classes beside each other, loads that change, pauses and conversations, over several workers."""

import pytest

from tests.runs.test_load import most_in_flight

pytestmark = pytest.mark.slow
WORK = {"prompt_tokens": 40, "output_tokens": 12}
CHAT = {"name": "chat", "workload": WORK}
BATCH = {"name": "batch", "load": {"concurrency": 4}, "workload": WORK}


def test_a_class_with_its_own_load_goes_on_beside_each_stage_and_ends_with_it(runs):
    ramp = {"shape": "ramp", "start": 0, "end": 20}
    run = runs.start(
        {"concurrency": 1, "requests": 5},  # one of the workers has no seat of it
        {"rate_per_s": ramp, "arrivals": "constant", "seconds": 3, "warmup_s": 1},
        {"kind": "idle", "seconds": 1},
        classes=[CHAT, BATCH],
        workload={},
        workers=2,
    )
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert set(requests["outcome"]) == {"complete"}
    for stage, n_chat in enumerate([5, 30, 0]):
        level = requests[requests["stage"] == stage]
        batch = level[level["traffic_class"] == "batch"]
        assert (level["traffic_class"] == "chat").sum() == n_chat
        assert most_in_flight(batch) == 4
    ramped = requests[(requests["stage"] == 1) & (requests["traffic_class"] == "chat")]
    assert (ramped["phase"] == "warmup").sum() == 4  # of 0.5 a t² at t = 1 s: 3.3, the first at 0


def test_each_turn_of_an_open_conversation_is_due_a_think_time_after_the_answer_before_it(runs):
    talk = {"turns": 3, "think_s": 0.1}
    run = runs.start(
        {"rate_per_s": 5, "requests": 30},
        {"concurrency": 2, "requests": 12},
        workload={**WORK, "conversation": talk},
        workers=2,
    )
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    opened = requests[requests["stage"] == 0]
    assert len(opened) == 30
    for _, turns in opened.sort_values("turn").groupby("conversation"):
        assert list(turns["turn"]) == [0, 1, 2]
        assert turns["worker"].nunique() == 1
        pauses_us = turns["due_us"].iloc[1:].to_numpy(int) - turns["end_us"].iloc[:-1].to_numpy(int)
        assert all(abs(us - 100_000) <= 1 for us in pauses_us)
    closed = requests[requests["stage"] == 1]
    assert len(closed) == 12
    assert most_in_flight(closed) <= 2
    for _, turns in closed.sort_values("turn").groupby("conversation"):
        pauses_us = turns["send_us"].iloc[1:].to_numpy(int) - turns["end_us"].iloc[:-1].to_numpy(
            int
        )
        assert all(us >= 100_000 - 1 for us in pauses_us)
