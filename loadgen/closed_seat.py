"""One user of closed loop: its next request begins when the last answer has ended."""

import time

from loadgen.levels import Level, Sending
from loadgen.planned import Visit
from loadgen.seats import Role


def closed_seat(level: Level, role: Role, sending: Sending) -> None:
    """Play the role of a seat to the level's end.  A seat whose time is over ends its visit first.

    A load that changes switches seats on and off: seat j is on while the load is above j.
    """
    try:
        visits = level.share.visits(role)
        for begin_ns, end_ns in level.share.spans(role):
            until_ns = level.begin_ns + end_ns
            _wait(level, level.one_by_one_ns(level.begin_ns + begin_ns), until_ns)
            is_first = True
            while time.monotonic_ns() < until_ns and not level.over(role.part):
                visit = next(visits)
                if not is_first and visit.pause_ns:
                    _wait(level, time.monotonic_ns() + visit.pause_ns, until_ns)
                    if time.monotonic_ns() >= until_ns:
                        break
                is_first = False
                if not _pay(level, role, visit, sending):
                    break
        level.issuing_ended(role)
    finally:  # also if Locust takes the seat away: a level must not wait for it for ever
        level.leave()


def _pay(level: Level, role: Role, visit: Visit, sending: Sending) -> bool:
    """Pay one visit, turn by turn; False if the level lets it issue no more."""
    for turn in range(visit.turns):
        if turn:
            think_ns = level.share.think_ns(visit, turn)
            _wait(level, time.monotonic_ns() + think_ns, level.deadline_ns)
        if not level.may_issue(role.part):
            return False
        level.issued()
        phase = level.phase(time.monotonic_ns())
        if sending.perform(level.share.request(visit, turn, None, phase)) is None:
            break
    return True


def _wait(level: Level, instant_ns: int, at_most_ns: int | None) -> None:
    """Until the instant, but not longer than `at_most_ns`, the level's end or its being stopped."""
    ends = (instant_ns, at_most_ns, level.deadline_ns)
    end_ns = min(end for end in ends if end is not None)
    # The loop's timers count from when its turn began, so they may ring a little early.
    while (left_ns := end_ns - time.monotonic_ns()) > 0:
        if level.stopped.wait(left_ns / 1e9):
            return
