"""A turn repeats all that was said before it; and none follows a failed answer."""

from loadgen.history import Histories, Said, is_turn
from loadgen.schedule import PlannedRequest


def turn(n, of=3, conversation=7, **fields):
    return PlannedRequest(
        request_id=n,
        stage=0,
        due_ns=None,
        prompt=f"question {n}",
        prompt_tokens=2,
        max_tokens=8,
        ignore_eos=True,
        **{"conversation": conversation, "turn": n, "turns": of, **fields},
    )


def contents(planned):
    return [message["content"] for message in planned.messages]


def test_each_turn_is_asked_with_the_answers_before_it():
    talks = Histories()
    first = talks.asking(turn(0))
    assert first.messages == [{"role": "user", "content": "question 0"}]
    talks.answered(first, Said("answer 0"))
    second = talks.asking(turn(1))
    assert contents(second) == ["question 0", "answer 0", "question 1"]
    assert [m["role"] for m in second.messages] == ["user", "assistant", "user"]
    talks.answered(second, Said("answer 1"))
    assert contents(talks.asking(turn(2)))[-2:] == ["answer 1", "question 2"]


def test_two_users_do_not_hear_each_other():
    talks = Histories()
    for conversation in (1, 2):
        asked = talks.asking(turn(0, conversation=conversation))
        talks.answered(asked, Said(f"to {conversation}"))
    assert contents(talks.asking(turn(1, conversation=1)))[1] == "to 1"
    assert contents(talks.asking(turn(1, conversation=2)))[1] == "to 2"


def test_a_files_messages_come_in_place_of_the_prompt():
    asked = Histories().asking(turn(0, messages=[{"role": "system", "content": "be brief"}]))
    assert contents(asked) == ["be brief"]


def test_a_conversation_is_forgotten_after_its_last_turn_or_a_failed_answer():
    talks = Histories()
    talks.answered(talks.asking(turn(0, of=2)), Said("fine"))
    assert len(talks) == 1
    talks.answered(talks.asking(turn(1, of=2)), Said("fine"))
    assert len(talks) == 0
    talks.answered(talks.asking(turn(0)), Said(why="reset"))
    assert len(talks) == 0


def test_a_row_of_a_trace_holds_its_own_history():
    assert not is_turn(turn(1, of=1))
