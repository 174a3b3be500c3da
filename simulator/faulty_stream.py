"""A token stream with the faults its request asked for; see faults.py."""

import asyncio
from collections.abc import Callable
from functools import partial

from simulator.faults import Fault
from simulator.sequence import Emission, Sequence
from simulator.token_stream import TokenStream


class FaultyStream:
    """Stands before a TokenStream and hands on what the faults let through."""

    def __init__(self, stream: TokenStream, fault: Fault) -> None:
        self.finish_reason = stream.finish_reason
        self._stream = stream
        self._n_taken = 0
        self._held: list[Callable[[], None]] | None = None  # while stalled
        self._stall_s = (fault.stall_ms or 0) / 1000
        actions = (
            (fault.garbage_after, partial(stream.send, stream.events.garbage)),
            (fault.error_after, stream.fail),
            (fault.cut_after, partial(self._break_off, stream.wire.cut)),
            (fault.reset_after, partial(self._break_off, stream.wire.reset)),
            ((fault.stall_after or 0) if self._stall_s else None, self._stall),
        )
        self._actions = [(after, act) for after, act in actions if after is not None]

    def take(self, emission: Emission) -> None:
        """Tokens: held back, handed on, or the last before the fault."""
        if self._n_taken == 0:
            self._act()
        if self._held is not None:
            self._held.append(partial(self.take, emission))
            return
        self._stream.take(emission)
        self._n_taken += 1
        self._act()

    def end(self, sequence: Sequence) -> None:
        """The end, held back during a stall like the tokens before it."""
        if self._held is not None:
            self._held.append(partial(self._stream.end, sequence))
        else:
            self._stream.end(sequence)

    def _act(self) -> None:
        due = [act for after, act in self._actions if after == self._n_taken]
        self._actions = [(after, act) for after, act in self._actions if after != self._n_taken]
        for act in due:
            act()

    def _stall(self) -> None:
        self._held = []
        asyncio.get_running_loop().call_later(self._stall_s, self._catch_up)

    def _catch_up(self) -> None:
        held, self._held = self._held or [], None
        for hand_on in held:
            hand_on()

    def _break_off(self, close: Callable[[], None]) -> None:
        self._stream.stop("cut")
        close()
