"""What an answer said, wanted while the run goes on: only the next turn of a conversation does.

A worker decodes nothing else.  The bytes of these requests are kept beside the spool, and parsed
once the answer has ended, a few at a time, so that other streams do not wait for it.
"""

from collections.abc import Callable
from typing import Any

from loadgen.exchange import ExchangeDecoder
from loadgen.history import Said
from loadgen.memory_spool import MemorySpool
from loadgen.transport.call import Spool
from loadgen.wire.api import Api, Delta

SLICE_BYTES = 4 * 1024
"""Parsed between two turns of the loop: some 20 events at 20 µs each."""
_FOR_THE_USER = ("content", "refusal")


class TeeSpool:
    """A spool (loadgen.transport.call.Spool) that also keeps what those listened to are told."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._heard: dict[int, MemorySpool] = {}
        self.tick = spool.tick

    def listen(self, request_id: int) -> None:
        """Keep all records of this request, which is not begun yet."""
        self._heard[request_id] = MemorySpool()

    def heard(self, request_id: int) -> MemorySpool:
        """What was kept of it; it is kept no longer."""
        return self._heard.pop(request_id)

    def open(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """As the spool's."""
        self._spool.open(request_id, meta, mono_ns)
        if (heard := self._heard.get(request_id)) is not None:
            heard.open(request_id, meta, mono_ns)

    def read(self, request_id: int, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """As the spool's."""
        self._spool.read(request_id, mono_ns, delay_ns, poll_ns, data)
        if (heard := self._heard.get(request_id)) is not None:
            heard.read(request_id, mono_ns, delay_ns, poll_ns, data)

    def close(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """As the spool's."""
        self._spool.close(request_id, meta, mono_ns)
        if (heard := self._heard.get(request_id)) is not None:
            heard.close(request_id, meta, mono_ns)


def said(api: Api, heard: MemorySpool, breathe: Callable[[], None]) -> Said:
    """The first choice's answer; breathe() is called before each further SLICE_BYTES.

    What the user sees is the answer; one that holds nothing of the kind, only reasoning or a tool
    call, is taken as a whole.
    """
    if not heard.opened or not heard.closed:
        return Said(why="it was not sent")
    decoder = _Listener(api, heard.opened, heard.opened["dispatched_ns"])
    n_bytes = 0
    for read in heard.reads:
        if n_bytes and n_bytes + len(read[3]) > SLICE_BYTES:
            breathe()
            n_bytes = 0
        n_bytes += len(read[3])
        decoder.read(*read)
    row = decoder.close(heard.closed)
    if row.outcome != "complete":
        return Said(why=f"{row.outcome}: {row.detail}" if row.detail else row.outcome)
    return Said("".join(decoder.visible or decoder.other))


class _Listener(ExchangeDecoder):
    """Parses each event and keeps its text; times and rows are the decoder process's matter."""

    __slots__ = ("other", "visible")

    def __init__(self, api: Api, open_meta: dict[str, Any], t0_mono_ns: int) -> None:
        super().__init__(api, open_meta, t0_mono_ns, is_learning=False)
        self.visible: list[str] = []
        self.other: list[str] = []

    def _keep_text(self, delta: Delta) -> None:
        if delta.choice == 0:
            (self.visible if delta.kind in _FOR_THE_USER else self.other).append(delta.text)
