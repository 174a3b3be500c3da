"""The conversations of one load worker: what was said before goes out, an answer comes in."""

from collections.abc import Callable

import gevent

from loadgen.hearing import said
from loadgen.history import Histories, Said, is_turn
from loadgen.levels import Level
from loadgen.plan import Plan
from loadgen.planned import PlannedRequest, Visit
from loadgen.senders import Senders
from loadgen.wire.registry import APIS

BREATH_S = 0.0001


def _breathe() -> None:
    """A timer, and not sleep(0), after which the loop need not have looked at its sockets."""
    gevent.sleep(BREATH_S)


class Talks:
    """Every turn is asked and heard here; requests that are no turns pass as they are."""

    def __init__(self, plan: Plan, senders: Senders) -> None:
        self._apis = [APIS[plan.target_of(one).api] for one in plan.traffic()]
        self._senders = senders
        self._histories = Histories()

    def asking(self, planned: PlannedRequest) -> PlannedRequest:
        """The request with all that was said before it; its answer will be listened to."""
        if not is_turn(planned):
            return planned
        self._senders.listen(planned)
        return self._histories.asking(planned)

    def heard(
        self, asked: PlannedRequest, level: Level | None, breathe: Callable[[], None] = _breathe
    ) -> int | None:
        """Keep the answer to a turn, now that it has ended; None if the next one may be asked.

        Else how many turns were recorded as not sent.  Blocks, for it lets the loop have its
        turns: never call it from the loop itself.
        """
        answer = said(self._apis[asked.traffic], self._senders.heard(asked), breathe)
        self._histories.answered(asked, answer)
        if answer.why is None:
            return None
        return self._break_off(asked, level, f"got no answer: {answer.why}")

    def unsent(self, planned: PlannedRequest, level: Level | None) -> int:
        """A request could not be sent: how many turns that were to follow are recorded so too."""
        if not is_turn(planned):
            return 0
        self._histories.answered(planned, Said(why="not sent"))
        return self._break_off(planned, level, "was not sent")

    def level_over(self) -> None:
        """What its end cut short is not gone on with."""
        self._histories.clear()

    def _break_off(self, turn: PlannedRequest, level: Level | None, how: str) -> int:
        """Nothing is recorded where it is the level's end that cuts conversations short."""
        if level is None or level.over():
            return 0
        assert turn.turn is not None
        assert turn.conversation is not None
        visit = Visit(turn.traffic, turn.conversation, turn.turns, None)
        left = range(turn.turn + 1, turn.turns)
        for number in left:
            planned = level.share.request(visit, number, None, turn.phase)
            why = f"turn {turn.turn} of its conversation {how}"
            self._senders[turn.traffic].record_not_sent(planned, None, why)
        return len(left)
