"""What the users of one load worker and the endpoint have said to each other, turn by turn.

A conversation is a `Visit` of several turns.  Whoever plays it hands EVERY turn to `perform`, in
order: turn k is sent with the real answers of the turns before it.  `perform` returns False once an
answer failed; the turns that are left are handed to it all the same, without their pauses, and are
recorded as not sent, so that nothing of the plan is missing from the data.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadgen.planned import PlannedRequest

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer as the next turn repeats it.  why: a sentence where there is none to go on from."""

    text: str = ""
    why: str | None = None


@dataclass(slots=True)
class _Talk:
    messages: list[Message] = field(default_factory=list[Message])
    broken: str | None = None


def is_turn(planned: "PlannedRequest") -> bool:
    """Whether the request is a turn of a conversation that we hold, and not a row of a trace."""
    return planned.turns > 1


def own_messages(planned: "PlannedRequest") -> list[Message]:
    """What this request says itself: a file's messages, else its prompt as the user's words."""
    return planned.messages or [{"role": "user", "content": planned.prompt}]


class Histories:
    """All conversations under way on one worker; each is forgotten after its last turn."""

    def __init__(self) -> None:
        self._talks: dict[tuple[int, int, int | None], _Talk] = {}

    def __len__(self) -> int:
        return len(self._talks)

    def broken(self, planned: "PlannedRequest") -> str | None:
        """Why the turn cannot be asked any more; None if it can."""
        talk = self._talks.get(_key(planned))
        why = talk.broken if talk else None
        if why is not None:
            self._forget_after(planned)
        return why

    def asking(self, planned: "PlannedRequest") -> "PlannedRequest":
        """The turn with all that was said before it in its messages."""
        talk = self._talks.setdefault(_key(planned), _Talk())
        return replace(planned, messages=[*talk.messages, *own_messages(planned)])

    def answered(self, asked: "PlannedRequest", said: Said) -> bool:
        """Keep the answer to a turn that `asking` made; False if the conversation ends with it."""
        talk = self._talks.setdefault(_key(asked), _Talk())
        if said.why is not None:
            talk.broken = f"turn {asked.turn} of this conversation got no answer: {said.why}"
        else:
            talk.messages = [*own_messages(asked), {"role": "assistant", "content": said.text}]
        self._forget_after(asked)
        return said.why is None

    def clear(self) -> None:
        """A level is over, and with it the conversations that its end cut short."""
        self._talks.clear()

    def _forget_after(self, planned: "PlannedRequest") -> None:
        if planned.turn == planned.turns - 1:
            self._talks.pop(_key(planned), None)


def _key(planned: "PlannedRequest") -> tuple[int, int, int | None]:
    return planned.stage, planned.traffic, planned.conversation
