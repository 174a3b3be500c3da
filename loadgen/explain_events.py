"""The events of one answer as lines to read: what the run's own decoder made of each, and when."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from loadgen.answer import KIND_NUMBER
from loadgen.arrival import ArrivalClock
from loadgen.exchange import ExchangeDecoder, Read
from loadgen.explain_words import frame_of, note_of, printable
from loadgen.request_row import Exchange
from loadgen.wire.api import Api, Delta
from loadgen.wire.framing import Framing, ProtocolError, WireEvent
from storage.records import TOKEN_EVENT, RequestRow

FIRST_EVENTS = 8
"""So many payloads are kept: the model that answers is named in the first ones."""

Clean = Callable[[str | None], str | None]
"""Takes the key out of a text (redact.redactor)."""


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event for one choice; an event that speaks for two choices has two lines.

    ms: its arrival, after the send.  gap_ms: after the line before, None on the first.  shared: its
    arrival is in doubt, for its read held more.  lag_ms: how late we read it; None: no kernel
    stamp.  tokens: None where nobody told.  text and note are printable, one line, bounded.
    """

    n: int
    ms: float
    gap_ms: float | None
    read: int
    bytes: int
    kind: str
    text: str = ""
    note: str = ""
    tokens: int | None = None
    choice: int = 0
    shared: bool = False
    lag_ms: float | None = None

    @property
    def is_token(self) -> bool:
        """Whether it carries text of the answer."""
        return self.kind in KIND_NUMBER


@dataclass(slots=True)
class Followed:
    """One exchange, decoded as a run decodes it."""

    seen: Exchange
    row: RequestRow
    tokens: NDArray[np.void]  # storage.records.TOKEN_EVENT
    lines: list[EventLine]
    payloads: list[bytes]  # of the first events: what model answers, and so on
    max_lag_us: int
    n_clock_steps: int  # reads whose kernel stamp cannot be: the wall clock was set


def follow(
    reads: Sequence[Read], metas: tuple[dict[str, Any], dict[str, Any]], api: Api, clean: Clean
) -> Followed:
    """Decode the reads one by one and note what each of them completed.  metas: OPEN, CLOSE.

    Time zero of the lines and of the row is the send.
    """
    opened, closed = metas
    begin_ns = opened.get("send_ns") or opened["dispatched_ns"]
    watched = _Watched(api)
    decoder = ExchangeDecoder(cast(Api, watched), opened, begin_ns, is_learning=False)
    clock, lines = decoder.seen.clock, _Lines(clean)
    max_lag_us = n_steps = 0
    for number, (mono_ns, delay_ns, poll_ns, data) in enumerate(reads, 1):
        decoder.read(mono_ns, delay_ns, poll_ns, data)
        max_lag_us = max(max_lag_us, clock.lag_us)
        n_steps += delay_ns >= 0 and clock.lag_us < 0
        lines.take(watched, clock, number)
    row = decoder.close(closed)
    lines.take(watched, clock, len(reads), decoder.seen.whole_us)
    tokens = decoder.take_tokens()
    return Followed(
        decoder.seen,
        row,
        tokens,
        _stamped(lines.lines, tokens),
        watched.payloads,
        max_lag_us,
        n_steps,
    )


class _Watched:
    """An API that notes what it is asked to decode; all else is that API's own."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._framing: Framing | None = None
        self.decoded: list[tuple[bytes, list[Delta], str]] = []  # since the last take
        self.payloads: list[bytes] = []
        self._comments = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def framing(self) -> Framing:
        """The API's framing, whose comments are counted."""
        self._framing = self._api.framing()
        return self._framing

    def decode(self, event: WireEvent) -> list[Delta]:
        """As the API; what it finds to be nonsense is noted too."""
        try:
            deltas = self._api.decode(event)
        except ProtocolError as error:
            self._note(event.data, [], str(error))
            raise
        self._note(event.data, deltas)
        return deltas

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """As the API; the answer in one piece."""
        deltas = self._api.decode_whole(document)
        self.decoded.append((b"", deltas, ""))
        return deltas

    def take_comments(self) -> int:
        """Comment lines since the last take."""
        n = self._framing.comments if self._framing else 0
        new, self._comments = n - self._comments, n
        return new

    def _note(self, data: bytes, deltas: list[Delta], problem: str = "") -> None:
        self.decoded.append((data, deltas, problem))
        if len(self.payloads) < FIRST_EVENTS:
            self.payloads.append(data)


class _Lines:
    """Lines in the order of arrival."""

    def __init__(self, clean: Clean) -> None:
        self.lines: list[EventLine] = []
        self._clean = clean
        self._n = 0

    def take(
        self, watched: _Watched, clock: ArrivalClock, read: int, at_us: int | None = None
    ) -> None:
        """What one read completed.  Comments of the same read come first: where is not known.

        at_us: the arrival, if it is not that of the clock's last read.
        """
        found = [EventLine(0, 0, None, read, 0, "comment") for _ in range(watched.take_comments())]
        for data, deltas, problem in watched.decoded:
            self._n += 1
            found += [self._line(data, delta, read) for delta in deltas]
            if problem:
                note = printable(self._clean(problem) or "")
                found.append(EventLine(self._n, 0, None, read, len(data), "malformed", note=note))
        watched.decoded.clear()
        lag_ms = None if clock.lag_us < 0 else clock.lag_us / 1000
        ms = (clock.t_us if at_us is None else at_us) / 1000
        for line in found:
            before = self.lines[-1].ms if self.lines else None
            gap_ms = None if before is None else round(ms - before, 3)
            self.lines.append(replace(line, ms=ms, gap_ms=gap_ms, lag_ms=lag_ms))

    def _line(self, data: bytes, delta: Delta, read: int) -> EventLine:
        text, note = delta.text, note_of(delta)
        if delta.kind == "empty" and not note:
            text, note = frame_of(data)
        return EventLine(
            n=self._n,
            ms=0,
            gap_ms=None,
            read=read,
            bytes=len(data),
            kind=delta.kind,
            text=printable(self._clean(text) or ""),
            note=printable(self._clean(note) or ""),
            tokens=delta.n_tokens or None,
            choice=delta.choice,
        )


def _stamped(lines: list[EventLine], tokens: NDArray[np.void]) -> list[EventLine]:
    """The token lines with what the run's token events say of them: doubt, lag, tokens."""
    rows = iter(tokens.tolist())
    return [_with(line, next(rows, None)) if line.is_token else line for line in lines]


def _with(line: EventLine, row: tuple[int, ...] | None) -> EventLine:
    if row is None:  # a whole answer's text, which no token event stands for
        return line
    said = dict(zip(TOKEN_EVENT.names or (), row, strict=True))
    return replace(
        line,
        tokens=said["n_tokens"] or None,
        shared=bool(said["shared"]),
    )
