"""One request's raw reads -> token events and its row.  Pure: every instant is an argument.

Used by the decoder process for each stream of the spool, and by the preflight for one stream.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgen.answer import KIND_NUMBER
from loadgen.arrival import ArrivalClock
from loadgen.plain_event import PlainEvent, is_one_chunk, learn
from loadgen.request_row import Exchange, request_row
from loadgen.token_log import TokenLog
from loadgen.whole_answer import MAX_DOCUMENT_BYTES, TOO_LONG, comes_whole, read_document
from loadgen.wire.api import Api, Delta
from loadgen.wire.framing import ProtocolError, WireEvent
from storage.records import TOKEN_EVENT, RequestRow

Read = tuple[int, int, int, bytes]
"""mono_ns, delay_ns (-1: no kernel stamp), poll_ns, data: as in storage.raw_record."""

MAX_REFUSAL_BYTES = 1024 * 1024
"""Of the body of a refusal no more is kept: its sentence is all that is wanted."""
END_BYTES = 16
"""By so many last bytes a token event is known again at the end of a read."""
MAX_LEARNED = 4
"""So often in vain is the plain event learned; then a stream's events are taken to differ."""


class ExchangeDecoder:
    """Decodes one request; open_meta and close_meta are those of the raw spool's records.

    An event has the arrival of the read that completed it.  is_learning False parses each event,
    which is the oracle of the tests, and keeps what they said in `texts`, by choice.
    """

    __slots__ = (
        "_api",
        "_delta",
        "_framing",
        "_is_between",
        "_keeps_texts",
        "_learned_in_vain",
        "_log",
        "_plain",
        "_read_from",
        "_token_data",
        "seen",
        "texts",
    )

    def __init__(
        self, api: Api, open_meta: dict[str, Any], t0_mono_ns: int, is_learning: bool = True
    ) -> None:
        begin_ns = open_meta.get("send_ns") or open_meta["dispatched_ns"]
        self.seen = Exchange(open_meta, ArrivalClock(t0_mono_ns, begin_ns), api.is_streaming)
        self.texts: dict[int, list[str]] = {}
        self._keeps_texts = not is_learning
        self._api = api
        self._framing = api.framing()
        self._log = TokenLog(open_meta["request_id"])
        self._read_from = 0  # number of token events before the last read
        self._delta: Delta | None = None  # of the last token event
        self._token_data = b""  # of the last event; void if that was no token event
        self._plain: PlainEvent | None = None
        self._is_between = False  # neither a chunk nor an event is begun
        self._learned_in_vain = 0 if is_learning else MAX_LEARNED

    def read(self, mono_ns: int, delay_ns: int, poll_ns: int, data: bytes) -> None:
        """One read, as the raw spool keeps it."""
        self.read_all([(mono_ns, delay_ns, poll_ns, data)])

    def read_all(self, reads: Iterable[Read]) -> None:
        """Many reads in their order; what is usual is recognised, see plain_event."""
        log, clock, answer = self._log, self.seen.clock, self.seen.answer
        for mono_ns, delay_ns, poll_ns, data in reads:
            clock.read(mono_ns, delay_ns, poll_ns, len(data))
            self._read_from = log.n
            plain = self._plain
            if plain is None or not self._is_between:
                self._parse(data)
            elif plain.matches(data):
                self._learned_in_vain = 0
                if plain.choice != log.choice:
                    log.turn_to(plain.choice)
                log.append(clock.t_us, plain.kind_number, 0, clock.lag_us)
                answer.same_again(plain.choice)
            else:
                self._parse_several(data, plain)
            if clock.lag_us < 0:  # asked here too, for a call at each read is dear
                self._mark_unstamped()

    def close(self, close_meta: dict[str, Any]) -> RequestRow:
        """The request is over: its row.  Take the last tokens after this."""
        seen, log = self.seen, self._log
        if seen.http.is_success and not seen.is_whole:
            self._events(self._framing.end())
            self._mark_shared()
            self._mark_unstamped()
        if seen.http.is_success and seen.document and not seen.answer.n_events:
            self._document()
        if self._framing.comments:
            seen.answer.other_events["comment"] = self._framing.comments
        seen.http.finish()
        seen.last_token_us = log.last_us if log.n else None
        seen.n_shared = log.n_shared
        return request_row(seen, close_meta)

    def take_tokens(self) -> NDArray[np.void]:
        """Token events since the last take, a TOKEN_EVENT array that may be written to."""
        return np.frombuffer(self._log.take(), TOKEN_EVENT)

    def _parse_several(self, data: bytes, plain: PlainEvent) -> None:
        """A read of several usual chunks, as a late client gets them, or of something else."""
        n, rest = plain.skip(data)
        if plain.choice != self._log.choice:
            self._log.turn_to(plain.choice)
        for _ in range(n):
            self._log.append(self.seen.clock.t_us, plain.kind_number, 0, self.seen.clock.lag_us)
            self.seen.answer.same_again(plain.choice)
        if rest:
            self._parse(rest)
        else:
            self._mark_shared()

    def _parse(self, data: bytes) -> None:
        """Bytes that are not the usual ones: HTTP, framing, API."""
        seen, log = self.seen, self._log
        n_before = log.n
        pieces = seen.http.feed(data)
        for piece in pieces:
            self._body(piece)
        if seen.headers_us is None and seen.http.status is not None:
            seen.headers_us = seen.clock.t_us
        is_exact = not seen.clock.is_piled or not self._is_followed(pieces, log.n > n_before)
        self._mark_shared(is_exact)
        is_plain = self._framing.idle and not seen.http.coding
        self._is_between = is_plain and is_one_chunk(data, pieces)
        if self._is_between and self._delta is not None and log.n - n_before == 1:
            self._learn(data, pieces[0], self._delta)

    def _learn(self, data: bytes, piece: bytes, delta: Delta) -> None:
        """Know the next read like this one; not for ever, where every event differs."""
        is_known = self._plain is not None and self._plain.frames(data)
        if not is_known and self._learned_in_vain < MAX_LEARNED:
            self._learned_in_vain += 1
            self._plain = learn(data, piece, delta, self._api)

    def _body(self, piece: bytes) -> None:
        seen, http = self.seen, self.seen.http
        if not http.is_success:
            seen.document += piece[: MAX_REFUSAL_BYTES - len(seen.document)]
            return
        if seen.is_whole is None and piece.strip():
            seen.is_whole = comes_whole(http.content_type, seen.is_streamed, piece)
        if seen.is_whole:
            self._keep(piece)
            return
        try:
            events = self._framing.feed(piece)
        except ProtocolError as error:
            self._note_problem(error)
            return
        if events:
            if seen.document:
                seen.document.clear()
            self._events(events)
        elif not seen.answer.n_events:
            self._keep(piece)

    def _events(self, events: list[WireEvent]) -> None:
        log = self._log
        for event in events:
            n_before = log.n
            self._token_data = b""
            try:
                deltas = self._api.decode(event)
            except ProtocolError as error:
                self._note_problem(error)
                continue
            for delta in deltas:
                number = KIND_NUMBER.get(delta.kind)
                if number is None:
                    self.seen.answer.other_event(delta)
                else:
                    self._token(delta, number)
            if log.n > n_before:
                self._token_data = event.data

    def _token(self, delta: Delta, kind_number: int) -> None:
        seen = self.seen
        t_us = seen.clock.t_us
        if seen.first_token_us is None:
            seen.first_token_us = t_us
        if seen.first_visible_us is None and delta.kind != "reasoning":
            seen.first_visible_us = t_us
        n_tokens = seen.answer.token_event(delta)
        self._keep_text(delta)
        if delta.choice != self._log.choice:
            self._log.turn_to(delta.choice)
        self._log.append(t_us, kind_number, n_tokens, seen.clock.lag_us)
        self._delta = delta

    def _mark_shared(self, is_last_exact: bool = True) -> None:
        """Doubt the read's token events, for its stamp is that of the last segment in it.

        All but the last: a later token event came with them.  The last one too if bytes may have
        piled up (ArrivalClock.is_piled) and more of the stream followed it: a finish, usage or
        [DONE] event, a ping, the beginning of the next event, the body's end.  Not for a client on
        time: servers send a last token and all that ends the stream as ONE segment, whose stamp is
        exact while the bound would be a whole gap.
        """
        n_events = self._log.n - self._read_from
        if n_events > is_last_exact:
            self._log.mark_shared(n_events, self.seen.clock.bound_us, is_last_exact)

    def _mark_unstamped(self) -> None:
        """Without a kernel stamp each of the read's token events came some time before the read."""
        if self.seen.clock.lag_us < 0:
            self._log.mark_bound(self._log.n - self._read_from, self.seen.clock.bound_us)

    def _is_followed(self, pieces: list[bytes], has_token: bool) -> bool:
        """Whether more than line ends came after the read's last token event.

        pieces: the read's body; of what followed the usual chunks, if they held that event
        (has_token False).  A chunked body's end counts, for it may be a segment of its own.
        """
        if self.seen.http.complete and "content-length" not in self.seen.http.headers:
            return True
        body = b"".join(pieces)
        if not self._framing.idle and not body.endswith(b"\r"):
            return True
        text = body.rstrip(b"\r\n")
        if not has_token:
            return bool(text)
        end = self._token_data[-END_BYTES:].rpartition(b"\n")[2]
        return not end or not (text.endswith(end) or end.endswith(text))

    def _keep(self, piece: bytes) -> None:
        """Of what may be one document; it arrives with its last byte."""
        seen = self.seen
        room = MAX_DOCUMENT_BYTES - len(seen.document)
        seen.document += piece[:room]
        seen.document_us = seen.clock.t_us
        if len(piece) > room and seen.is_whole:
            seen.problem = seen.problem or TOO_LONG

    def _document(self) -> None:
        """The body held no event: take what it says as one JSON document, if it is one."""
        seen, answer = self.seen, self.seen.answer
        try:
            deltas = read_document(bytes(seen.document), self._api)
        except ProtocolError as error:
            deltas = []
            seen.problem = seen.problem or str(error)
        if deltas is None:
            return  # half of one, or a page
        seen.is_whole, seen.whole_us = True, seen.document_us
        for delta in deltas:
            if delta.kind in KIND_NUMBER:
                answer.token_event(delta)
                self._keep_text(delta)
            else:
                answer.other_event(delta)

    def _keep_text(self, delta: Delta) -> None:
        if self._keeps_texts:
            self.texts.setdefault(delta.choice, []).append(delta.text)

    def _note_problem(self, error: ProtocolError) -> None:
        self.seen.problem = self.seen.problem or str(error)
        self.seen.answer.count("malformed")
