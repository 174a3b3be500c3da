"""What the users of one load worker and the endpoint have said to each other, turn by turn.

Turn k of a conversation is sent with the real answers of the turns before it.  Where an answer
failed the conversation ends: the worker records the turns that are left as not sent, so that
nothing of the plan is missing from the data.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.messages import messages_of

if TYPE_CHECKING:
    from loadgen.planned import PlannedRequest

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer as the next turn repeats it.  why: a sentence where there is none to go on from."""

    text: str = ""
    why: str | None = None


def is_turn(planned: "PlannedRequest") -> bool:
    """Whether the request is a turn of a conversation that we hold, and not a row of a trace."""
    return planned.turns > 1


class Histories:
    """All conversations under way on one worker; each is forgotten when it ends."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, int, int | None], list[Message]] = {}

    def __len__(self) -> int:
        return len(self._told)

    def asking(self, planned: "PlannedRequest") -> "PlannedRequest":
        """The turn with all that was said before it in its messages."""
        before = self._told.get(_key(planned), [])
        return planned._replace(messages=[*before, *messages_of(planned)])

    def answered(self, asked: "PlannedRequest", said: Said) -> None:
        """Keep the answer to a turn that `asking` made, if another turn may follow."""
        if said.why is not None or asked.turn == asked.turns - 1:
            self._told.pop(_key(asked), None)
            return
        answer = {"role": "assistant", "content": said.text}
        self._told[_key(asked)] = [*messages_of(asked), answer]

    def clear(self) -> None:
        """A level is over, and with it the conversations that its end cut short."""
        self._told.clear()


def _key(planned: "PlannedRequest") -> tuple[int, int, int | None]:
    return planned.stage, planned.traffic, planned.conversation
