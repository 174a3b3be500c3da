"""Messages over a connection that loses some of them."""

from hypothesis import given
from hypothesis import strategies as st

from loadgen.machines.post import Post


def test_a_message_is_taken_once_and_confirmed():
    here, there = Post(), Post()
    envelope = here.wrap("warm", {"stage": 0})
    assert there.take(envelope) == ("warm", {"stage": 0})
    assert there.take(envelope) is None
    assert there.receipt() == 1
    assert there.receipt() is None
    here.confirmed(1)
    assert here.overdue() == here.overdue() == []


def test_what_was_sent_since_the_last_look_is_not_overdue_yet():
    here = Post()
    envelope = here.wrap("pulse", {})
    assert here.overdue() == []
    assert here.overdue() == [envelope]


def test_a_lost_receipt_is_given_again_after_a_look():
    there = Post()
    there.take(Post().wrap("pulse", {}))
    assert there.receipt() == 1
    there.overdue()
    assert there.receipt() == 1


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 20))
def test_whatever_is_lost_everything_arrives_once_and_in_order(is_lost, n_messages):
    here, there = Post(), Post()
    arrived = []
    losses = iter(is_lost)

    def carry(envelope):
        if not next(losses, False) and (taken := there.take(envelope)):
            arrived.append(taken[1]["n"])

    for n in range(n_messages):
        carry(here.wrap("pulse", {"n": n}))
    for _ in range(2 * len(is_lost) + 4):
        for envelope in here.overdue():
            carry(envelope)
        if (below := there.receipt()) is not None and not next(losses, False):
            here.confirmed(below)
        there.overdue()
    assert arrived == list(range(n_messages))
    assert here.overdue() == []
