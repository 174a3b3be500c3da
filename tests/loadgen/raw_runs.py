"""Run folders with raw segments of our own streams, and what a store takes from them."""

import json
from pathlib import Path
from typing import Any

from exchanges import (
    DONE,
    FINISH,
    HEAD,
    MS,
    ROLE,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    open_meta,
)

from storage.column_spool import (
    COUNTS_SEQ,
    Columns,
    column_segments,
    decoded_mark,
    read_columns,
)
from storage.raw_spool import RawWriter


class RawRun:
    """Writes streams of single tokens, one segment after another."""

    def __init__(self, run_dir: Path, capacity_bytes: int = 1 << 16, worker: int = 0) -> None:
        self.run_dir = run_dir
        self.spool = run_dir / "spool"
        self.writer = RawWriter(self.spool, worker, capacity_bytes=capacity_bytes)
        self.now_ns = SEND_NS
        self.n_tokens: dict[int, int] = {}
        (run_dir / "run.json").write_text(json.dumps({"t0_mono_ns": T0_NS}))

    def open(self, k: int, **more: Any) -> None:
        meta = open_meta(request_id=k, x_request_id=f"u-{k}", send_ns=self.now_ns) | more
        self.writer.open(k, meta, self.now_ns)
        self.n_tokens[k] = 0
        self._read(k, HEAD + chunk(ROLE))

    def token(self, k: int, n: int = 1) -> None:
        for _ in range(n):
            self._read(k, chunk(content(f" {self.n_tokens[k]}")))
            self.n_tokens[k] += 1

    def close(self, k: int) -> None:
        self._read(k, chunk(FINISH + DONE) + b"0\r\n\r\n")
        end = close_meta("done") | {"end_ns": self.now_ns}
        self.writer.close(k, end, self.now_ns)

    def next_segment(self) -> None:
        """As if a second had passed."""
        self.writer.tick(self.now_ns)
        self.now_ns += 2_000 * MS
        self.writer.tick(self.now_ns)

    def _read(self, k: int, data: bytes) -> None:
        self.now_ns += MS
        self.writer.read(k, self.now_ns, 1000, self.now_ns - 500, data)


class MadeUpStore:
    """Takes column segments, each name once, as the store's ledger does."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self.taken: dict[str, tuple[list[Any], list[dict[str, Any]]]] = {}
        self.counts: dict[int, int] | None = None  # tokenizer's, by request

    def ingest(self) -> None:
        for segment in column_segments(self._run_dir / "spool"):
            columns = read_columns(segment.path)
            if segment.seq == COUNTS_SEQ:
                self._count(columns)
                segment.path.unlink()
                continue
            found = (columns.tokens.tolist(), columns.requests)
            known = self.taken.setdefault(segment.path.name, found)
            assert known == found, "a segment written again must be the same"
            segment.path.unlink()

    def _count(self, columns: Columns) -> None:
        """As the ledger does: what comes again under a known name is left aside."""
        assert self.rows, "counts come after what they count"
        if self.counts is None:
            self.counts = dict(columns.counts.tolist())

    @property
    def rows(self) -> dict[int, dict[str, Any]]:
        """By request; each must have come once."""
        rows = [row for _, found in self.taken.values() for row in found]
        by_id = {row["request_id"]: row for row in rows}
        assert len(by_id) == len(rows), "a request came twice"
        return by_id

    @property
    def seqs(self) -> dict[int, list[int]]:
        """The numbers of each request's token events, in the order of the segments."""
        seqs: dict[int, list[int]] = {}
        for name in sorted(self.taken):
            for token in self.taken[name][0]:
                seqs.setdefault(token[0], []).append(token[1])
        return seqs

    def live_seqs(self) -> list[int]:
        path = self._run_dir / "live-0.jsonl"
        return [json.loads(line)["seq"] for line in path.read_bytes().splitlines()]


def check_all_is_there(run: RawRun, store: MadeUpStore) -> None:
    """Every request and every token once, in order, and one live line for each segment."""
    assert decoded_mark(run.spool, 0).exists()
    assert store.seqs == {k: list(range(n)) for k, n in run.n_tokens.items() if n}
    assert sorted(store.rows) == sorted(run.n_tokens)
    assert {k: row["n_chunks"] for k, row in store.rows.items()} == run.n_tokens
    live = store.live_seqs()
    assert live == sorted(set(live))
    assert len(live) == len(store.taken)
    assert not list(run.spool.glob("raw-w0-*"))
