"""The raw spool's methods in memory: for the one exchange of a preflight or a self-test."""

from dataclasses import dataclass, field
from typing import Any, Literal

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.api import Api

Read = tuple[int, int, int, bytes]


@dataclass(slots=True)
class MemorySpool:
    """One exchange as the transport hands it over (loadgen.transport.call.Spool)."""

    opened: dict[str, Any] = field(default_factory=dict[str, Any])
    reads: list[Read] = field(default_factory=list[Read])
    closed: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep the OPEN record."""
        del request_id, mono_ns
        self.opened = dict(meta)

    def read(self, request_id: int, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """Keep one READ record."""
        del request_id
        self.reads.append((mono_ns, delay_ns, poll_ns, bytes(data)))

    def close(self, request_id: int, meta: dict[str, Any], mono_ns: int) -> None:
        """Keep the CLOSE record."""
        del request_id, mono_ns
        self.closed = dict(meta)

    def tick(self, now_ns: int) -> None:
        """Nothing grows old in memory."""
        del now_ns

    def decoder(self, api: Api, t0_mono_ns: int) -> ExchangeDecoder:
        """A decoder that has seen every read; its close() wants `closed`."""
        decoder = ExchangeDecoder(api, self.opened, t0_mono_ns)
        decoder.read_all(self.reads)
        return decoder

    @property
    def stamps(self) -> Literal["kernel", "user"] | None:
        """Who stamped the reads; None: not a byte came."""
        if not self.reads:
            return None
        return "kernel" if all(delay_ns >= 0 for _, delay_ns, _, _ in self.reads) else "user"
