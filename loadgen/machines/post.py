"""Messages that arrive once and in order, also over a connection that is cut in between.

ZeroMQ connects again by itself, but what was on its way is gone.  So each message has a number, the
other side says up to which one it has all, and what was not confirmed is sent again.
"""

from typing import Any

Envelope = dict[str, Any]
"""no: the message's number from 0; kind; content."""


class Post:
    """One side of one connection: what it has sent, and what it has taken."""

    def __init__(self) -> None:
        self._next_no = 0
        self._unconfirmed: dict[int, Envelope] = {}
        self._seen_waiting = 0  # numbers below this were waiting at the last look
        self._expected = 0
        self._confirmed_to_them = 0

    def wrap(self, kind: str, content: dict[str, Any]) -> Envelope:
        """The message as it travels; kept until it is confirmed."""
        envelope = {"no": self._next_no, "kind": kind, "content": content}
        self._unconfirmed[self._next_no] = envelope
        self._next_no += 1
        return envelope

    def take(self, envelope: Envelope) -> tuple[Any, Any] | None:
        """(kind, content) if it is the next one; None for one taken before, or after a gap.

        What an envelope lacks is None: whoever opens it looks what it says.
        """
        if envelope["no"] != self._expected:
            return None
        self._expected += 1
        return envelope.get("kind"), envelope.get("content")

    def receipt(self) -> int | None:
        """Every message below this number was taken; None if that was said before."""
        if self._confirmed_to_them == self._expected:
            return None
        self._confirmed_to_them = self._expected
        return self._expected

    def confirmed(self, below: int) -> None:
        """The other side has taken every message below this number."""
        for no in [no for no in self._unconfirmed if no < below]:
            del self._unconfirmed[no]

    def overdue(self) -> list[Envelope]:
        """All that is not confirmed, if some of it was not at the last call either; call at times.

        Then also the receipt is given again: it may have been lost as well.
        """
        was_waiting = any(no < self._seen_waiting for no in self._unconfirmed)
        self._seen_waiting = self._next_no
        self._confirmed_to_them = 0
        return list(self._unconfirmed.values()) if was_waiting else []
