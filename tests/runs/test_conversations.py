"""Conversations in whole runs: each turn carries the real answers before it."""

import pytest

pytestmark = pytest.mark.slow

TALK = {"prompt_tokens": 20, "output_tokens": 10, "conversation": {"turns": 3, "think_s": 0.05}}


def by_turn(rows):
    return rows.sort_values(["conversation", "turn"]).groupby("conversation")


def test_each_turn_of_a_closed_loop_repeats_all_that_was_said(runs):
    run_uid = runs.start({"concurrency": 2, "requests": 12}, workload=TALK)
    assert runs.end(run_uid)["state"] == "finished"
    rows = runs.requests(run_uid)
    assert (rows.outcome == "complete").all()
    assert len(rows) == 12
    for _, turns in by_turn(rows):
        assert list(turns.turn) == list(range(len(turns)))
        grown = turns.prompt_tokens.diff().dropna()
        assert (grown >= 30).all(), grown  # the turn before it: 20 asked, 10 answered
        pauses_us = turns.dispatched_us.shift(-1) - turns.end_us
        assert (pauses_us.dropna() >= 50_000).all()


def test_users_of_an_open_loop_arrive_by_the_schedule_and_go_on_at_their_own_pace(runs):
    stage = {"rate_per_s": 8, "arrivals": "constant", "seconds": 2}
    run_uid = runs.start(stage, workload=TALK)
    assert runs.end(run_uid)["state"] == "finished"
    rows = runs.requests(run_uid)
    assert (rows.outcome == "complete").all()
    for _, turns in by_turn(rows):
        later = turns[turns.turn > 0]
        before = turns.end_us.shift(1)[turns.turn > 0]
        assert ((later.due_us - before).abs() <= 50_002).all()  # µs are floored
    assert rows.conversation.nunique() == 16


def test_a_failed_answer_ends_its_conversation_and_the_turns_left_are_accounted_for(runs):
    work = {**TALK, "output_tokens": 2000}  # longer than they may last
    limits = {"failed_at_start": 100, "request_s": 1.5}
    run_uid = runs.start({"concurrency": 2, "requests": 4}, workload=work, limits=limits)
    state = runs.end(run_uid)
    rows = runs.requests(run_uid)
    first, left = rows[rows.turn == 0], rows[rows.turn > 0]
    assert (first.outcome == "timeout").all()
    assert len(first) == 4
    assert (left.outcome == "not_sent").all()
    assert left.detail.str.startswith("turn 0 of its conversation got no answer: ").all()
    # The last failures come with the level's end, which cuts conversations short by itself.
    assert state["not_sent"] == len(left) >= 4
    assert set(left.turn) == {1, 2}


def test_a_conversation_goes_on_with_a_server_that_answers_in_one_piece(runs):
    run_uid = runs.start({"concurrency": 1, "requests": 3}, workload={**TALK, "stream": False})
    runs.end(run_uid)
    rows = runs.requests(run_uid).sort_values("turn")
    assert list(rows.turn) == [0, 1, 2]
    assert rows.prompt_tokens.is_monotonic_increasing
