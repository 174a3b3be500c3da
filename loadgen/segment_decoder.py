"""Raw segments in their order -> what each one meant.  Keeps the streams that are still open."""

import logging
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from loadgen.exchange_runs import RunDecoder
from loadgen.live_line import Decoded, FirstToken, Texts
from loadgen.read_table import ReadTable, read_table
from loadgen.request_row import Exchange, request_row
from loadgen.wire.registry import APIS
from storage.raw_groups import RawGroups, read_groups
from storage.records import TOKEN_EVENT, RequestRow

log = logging.getLogger(__name__)

WORKER_ENDED = "the load worker ended before the answer did"
OUR_FAULT = "Headway itself failed to decode this answer; the run's log says where."


class SegmentDecoder:
    """The same segments in the same order always give the same: a restart may read them again.

    keeps_texts_of: targets whose answers a tokenizer will count; every event is parsed then.
    """

    def __init__(self, t0_mono_ns: int, keeps_texts_of: Collection[str] = ()) -> None:
        self._t0_ns = t0_mono_ns
        self._keeps_texts_of = keeps_texts_of
        self._streams: dict[int, RunDecoder] = {}
        self._opened_in: dict[int, int] = {}  # request -> seq of the segment with its OPEN
        self._last_mono_ns = t0_mono_ns

    @property
    def oldest_needed(self) -> int | None:
        """Seq of the oldest segment that an open stream began in; None if none is open."""
        return min(self._opened_in.values(), default=None)

    def decode(self, seq: int, path: Path) -> Decoded:
        """What one segment meant; FileNotFoundError, and nothing changed, if it is gone.

        Reads and ends of a request whose OPEN was not seen are ignored: it ended in a segment that
        is gone, and its row was written then.
        """
        groups = read_groups(path)
        if groups.damage:
            log.warning("%s", groups.damage)
        self._last_mono_ns = groups.last_mono_ns or self._last_mono_ns
        for request_id, payload in groups.opens.items():
            self._streams[request_id] = self._open(orjson.loads(payload))
            self._opened_in[request_id] = seq
        touched = [k for k in {**groups.places, **groups.closes} if k in self._streams]
        opens = [self._streams[k].seen.meta for k in groups.opens]
        return replace(self._advance(seq, touched, groups), opens=opens)

    def close_all(self, seq: int) -> Decoded:
        """The worker is dead: what is left of its open streams, as a segment of its own."""
        end = {"end_ns": self._last_mono_ns, "cause": "cancelled", "detail": WORKER_ENDED}
        groups = RawGroups(closes=dict.fromkeys(self._streams, orjson.dumps(end)))
        return self._advance(seq, list(self._streams), groups)

    def _open(self, meta: dict[str, Any]) -> RunDecoder:
        is_learning = meta.get("target", "main") not in self._keeps_texts_of
        return RunDecoder(APIS[meta["api"]], meta, self._t0_ns, is_learning)

    def _advance(self, seq: int, touched: list[int], groups: RawGroups) -> Decoded:
        table = read_table(groups.reads, self._t0_ns)
        token_rows: list[bytearray] = []
        rows: list[RequestRow] = []
        first_tokens: list[FirstToken] = []
        texts: list[Texts] = []
        for request_id in touched:
            stream = self._streams[request_id]
            seen = stream.seen
            had_token = seen.first_token_us is not None
            if place := groups.places.get(request_id):
                _read_all(stream, table.part(place))
            if end := groups.closes.get(request_id):
                rows.append(_close(stream, orjson.loads(end)))
                if stream.texts:
                    texts.append((request_id, ["".join(t) for t in stream.texts.values()]))
                del self._streams[request_id], self._opened_in[request_id]
            token_rows.append(stream.take_rows())
            if not had_token and (first := _first_token(seen)):
                first_tokens.append(first)
        return Decoded(
            seq=seq,
            t_us=(self._last_mono_ns - self._t0_ns) // 1000,
            # Not np.concatenate, which settles on a common type for each pair anew: 20 µs a stream.
            tokens=np.frombuffer(bytearray().join(token_rows), TOKEN_EVENT),
            rows=rows,
            pulses=[orjson.loads(pulse) for pulse in groups.pulses],
            first_tokens=first_tokens,
            texts=texts,
        )


def _first_token(seen: Exchange) -> FirstToken | None:
    """None while it has not come, or if the request was never begun."""
    first_us, send_us, due_us = (
        seen.first_token_us,
        seen.send_us,
        seen.clock.us(seen.meta["due_ns"]),
    )
    if first_us is None or send_us is None:
        return None
    from_schedule_us = None if due_us is None else first_us - due_us
    return FirstToken(
        first_us - send_us, from_schedule_us, seen.meta.get("traffic_class", "default")
    )


# Two edges for mistakes of ours: an answer that breaks the decoder must not stop the others.


def _read_all(stream: RunDecoder, table: ReadTable) -> None:
    try:
        stream.read_table(table)
    except Exception:
        log.exception("request %s cannot be decoded", stream.seen.meta["request_id"])
        stream.seen.problem = OUR_FAULT


def _close(stream: RunDecoder, end: dict[str, Any]) -> RequestRow:
    try:
        return stream.close(end)
    except Exception:
        log.exception("the end of request %s cannot be decoded", stream.seen.meta["request_id"])
        stream.seen.problem = OUR_FAULT
        return request_row(stream.seen, end)
