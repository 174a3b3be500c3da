"""The decoder of one load worker: a process of its own, niced, so that the load never waits for it.

`python -m loadgen.decoder RUN_DIR WORKER` turns raw segments into column segments about once a
second and ends when the worker is gone and everything is decoded.  It may be killed at any point
and started again: nothing is lost or doubled.  For each raw segment, in this order:

1. seal the column segment       (skipped if it exists, or if 2. was already done)
2. append the live line          (skipped if the file has it: the line carries the segment's seq)
3. rename the raw segment to .done

so what a restart finds as .done needs no output, and is read only to know the streams still open.
A segment that died between 1. and 2. after the store took its columns is written again under the
same name, which the store's ledger knows.

Where the plan names a tokenizer, the texts of the requests that ended in a segment are kept before
1., and once everything is decoded they are counted: one more column segment with a name of its own.
"""

import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from loadgen.answer_texts import count_texts, keep_texts, texts_path
from loadgen.line_file import append_lines
from loadgen.live_line import Decoded, Texts, live_line
from loadgen.probe_rows import gap_limits_us, is_asked_for, probe_rows
from loadgen.redact import redactor
from loadgen.segment_decoder import SegmentDecoder
from loadgen.tokenizer import Tokenizer, load
from storage.column_spool import (
    COUNTS_SEQ,
    column_path,
    decoded_mark,
    write_columns,
    write_counts,
)
from storage.raw_spool import is_writer_alive, raw_segments, remove_leftovers

log = logging.getLogger(__name__)

NICENESS = 10
POLL_S = 0.25
FULL_DISK_S = 1.0
MAX_TAIL_BYTES = 1 << 20  # of the live file; a line is a few kB
OVER = frozenset({"decoding", "finished", "stopped", "failed", "interrupted"})


class Decoder:
    """The files of one worker; `step` does what there is to do."""

    def __init__(self, run_dir: Path, worker: int, t0_mono_ns: int) -> None:
        self._run_dir = run_dir
        self._worker = worker
        self._spool = run_dir / "spool"
        plan = _plan(run_dir)
        targets = _targets(plan)
        named = {name: t["tokenizer"] for name, t in targets.items() if t.get("tokenizer")}
        self._tokenizers: list[str] = list(dict.fromkeys(named.values()))
        self._counted_by = {name: self._tokenizers.index(which) for name, which in named.items()}
        self._segments = SegmentDecoder(t0_mono_ns, self._counted_by)
        self._live = run_dir / f"live-{worker}.jsonl"
        self._live_seq = last_live_seq(self._live)
        self._last_seq = -1
        self._redact = redactor(*(target.get("api_key_env") for target in targets.values()))
        self._t0_ns = t0_mono_ns
        self._gap_limits_us = gap_limits_us(plan) if is_asked_for(plan) else None

    def step(self) -> bool:
        """Decode every segment that is complete; True if there was one."""
        did_something = False
        for segment in raw_segments(self._spool, self._worker):
            if segment.state == "open":
                break  # what follows is not complete either, or must wait for it
            if segment.seq <= self._last_seq:
                continue
            try:
                decoded = self._segments.decode(segment.seq, segment.path)
            except FileNotFoundError:  # it was renamed under us: look again
                break
            self._last_seq = segment.seq
            if segment.state != "done":
                self._write(decoded)
                segment.path.rename(segment.path.with_suffix(".done"))
            did_something = True
        if did_something:
            self._drop_done()
        return did_something

    def finish(self) -> None:
        """The worker is gone and all is decoded: end its open streams and say so."""
        if self._segments.oldest_needed is not None:
            self._write(self._segments.close_all(self._last_seq + 1))
        self._count_texts()
        decoded_mark(self._spool, self._worker).touch()
        self._drop_done()
        remove_leftovers(self._spool, self._worker)

    def has_raw(self) -> bool:
        """Whether raw segments still wait, or are being written."""
        return any(s.state != "done" for s in raw_segments(self._spool, self._worker))

    @property
    def has_seen_worker(self) -> bool:
        """Whether the worker's spool was ever opened."""
        return self._last_seq >= 0 or (self._spool / f"raw-w{self._worker}.lock").exists()

    def _write(self, decoded: Decoded) -> None:
        path = column_path(self._spool, self._worker, decoded.seq)
        for row in decoded.rows:
            row.detail = self._redact(row.detail)
        if decoded.seq <= self._live_seq:
            return
        if decoded.texts:
            self._keep_texts(decoded)
        if not path.exists():
            write = partial(write_columns, path, decoded.tokens, decoded.rows, decoded.pulses)
            insist(path, write)
        append_line(self._live, live_line(decoded) | self._requests(decoded))
        self._live_seq = decoded.seq

    def _requests(self, decoded: Decoded) -> dict[str, Any]:
        """Single requests, for a leader that judges levels while they go on."""
        if self._gap_limits_us is None:
            return {}
        return {"requests": probe_rows(decoded, self._t0_ns, self._gap_limits_us)}

    def _keep_texts(self, decoded: Decoded) -> None:
        target_of = {row.request_id: row.target for row in decoded.rows}
        by_tokenizer: dict[int, list[Texts]] = {}
        for one in decoded.texts:
            by_tokenizer.setdefault(self._counted_by[target_of[one[0]]], []).append(one)
        path = texts_path(self._spool, self._worker)
        for tokenizer, some in by_tokenizer.items():
            insist(path, partial(keep_texts, path, some, tokenizer))

    def _count_texts(self) -> None:
        """Nothing to do without texts: no answer had any, or they were counted and removed."""
        texts = texts_path(self._spool, self._worker)
        if not texts.exists():
            return
        loaded = [_loaded(name) for name in self._tokenizers]
        if any(loaded):
            counts = count_texts(texts, *loaded)
            path = column_path(self._spool, self._worker, COUNTS_SEQ)
            insist(path, partial(write_counts, path, counts))
        texts.unlink()

    def _drop_done(self) -> None:
        needed = self._segments.oldest_needed
        for segment in raw_segments(self._spool, self._worker):
            if segment.state == "done" and (needed is None or segment.seq < needed):
                segment.path.unlink(missing_ok=True)


def insist(path: Path, write: Callable[[], None]) -> None:
    """Write until it works; while a disk is full the raw segment waits, and nothing is lost."""
    while True:
        try:
            return write()
        except OSError as error:
            log.warning("cannot write %s (%s); trying again", path, error.strerror)
            time.sleep(FULL_DISK_S)


def append_line(path: Path, row: dict[str, Any]) -> None:
    """One JSON line in one write, after ending a line that a killed decoder left half."""
    append_lines(path, orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def last_live_seq(path: Path) -> int:
    """The seq of the last whole line; -1 if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_TAIL_BYTES))
            lines = file.read().split(b"\n")[:-1]  # the last one is void, or half
    except FileNotFoundError:
        return -1
    for line in reversed(lines):
        try:
            return int(orjson.loads(line)["seq"])
        except orjson.JSONDecodeError:  # half, left by a decoder killed before the last one
            continue
    return -1


def _plan(run_dir: Path) -> dict[str, Any]:
    """The plan as it stands in its file (no pydantic here: this starts fast)."""
    try:
        return orjson.loads((run_dir / "plan.json").read_bytes())
    except FileNotFoundError:
        return {}


def _loaded(tokenizer: str) -> Tokenizer | None:
    try:
        return load(tokenizer)
    except Exception:  # one edge: without the counts the run is still what was measured
        log.exception("the answers' tokens cannot be counted with %s", tokenizer)
        return None


def _targets(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> target of a plan as it stands in its file."""
    return {"main": plan.get("target") or {}, **(plan.get("targets") or {})}


def decode_run(run_dir: Path, worker: int) -> None:
    """Decode until the worker is gone and nothing is left."""
    t0_mono_ns = _wait_for_time_zero(run_dir)
    if t0_mono_ns is None:
        return
    decoder = Decoder(run_dir, worker, t0_mono_ns)
    leader_pid = os.getppid()
    n_gone = 0
    while n_gone < 2:  # seen twice: the writer makes its lock file a moment before it locks it
        is_alive = is_writer_alive(run_dir / "spool", worker)
        if decoder.step():
            n_gone = 0
            continue
        is_over = decoder.has_seen_worker or os.getppid() != leader_pid or _is_over(run_dir)
        n_gone = n_gone + 1 if is_over and not is_alive and not decoder.has_raw() else 0
        time.sleep(POLL_S)
    decoder.finish()


def _wait_for_time_zero(run_dir: Path) -> int | None:
    """The run's time zero from run.json; None if the run ended before it had one."""
    while True:
        try:
            return orjson.loads((run_dir / "run.json").read_bytes())["t0_mono_ns"]
        except FileNotFoundError:
            if _is_over(run_dir):
                return None
            time.sleep(POLL_S)


def _is_over(run_dir: Path) -> bool:
    try:
        return orjson.loads((run_dir / "status.json").read_bytes())["state"] in OVER
    except FileNotFoundError:
        return False


def main(arguments: list[str]) -> None:
    """Entry point of the process; its log is the run's."""
    run_dir, worker = Path(arguments[0]), int(arguments[1])
    logging.basicConfig(level=logging.INFO, format=f"decoder {worker}: %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the leader; we write down the rest
    os.nice(NICENESS)
    gc.collect()
    gc.freeze()
    gc.disable()  # no cycles are made here, and the collector took a fifth of the time
    if not decoded_mark(run_dir / "spool", worker).exists():
        decode_run(run_dir, worker)


if __name__ == "__main__":
    main(sys.argv[1:])
