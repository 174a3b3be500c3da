"""Column segments: what is written is read back, and a name means a whole file."""

import errno
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from storage.column_spool import (
    COUNTS_SEQ,
    TOKENIZER_COUNT,
    column_path,
    column_segments,
    decoded_mark,
    read_columns,
    write_columns,
    write_counts,
)
from storage.records import TOKEN_EVENT, Pulse, RequestRow

NO_TOKENS = np.empty(0, TOKEN_EVENT)
ROW = RequestRow(
    request_id=3,
    x_request_id="u-3",
    worker=1,
    stage=0,
    phase="measure",
    outcome="http_error",
    dispatched_us=5,
    end_us=9,
    detail="Zeile\nzwei «é»",
    other_events={"role": 1},
)
PULSE = Pulse(1, 10, 0, 1, 1, 0, 0, 0, 5, 0, 1, 2, 3, None, None, 4, None, 0.25, 1 << 20, 0)


def test_columns_are_read_back_as_written(tmp_path: Path):
    tokens = np.array([(3, 0, 7, -1, 2, 1, 0, 11, 0), (3, 1, 9, 2, 0, 0, 1, -1, 5)], TOKEN_EVENT)
    path = column_path(tmp_path, 1, 12)
    write_columns(path, tokens, [ROW], [asdict(PULSE)])
    found, rows, pulses, counts = read_columns(path)
    assert len(counts) == 0
    assert found.dtype == TOKEN_EVENT
    assert found.tolist() == tokens.tolist()
    assert rows == [ROW.to_dict()]
    assert list(rows[0]) == list(ROW.to_dict()), "keys in the order of the record"
    assert pulses == [asdict(PULSE)]


def test_rows_may_be_dicts_already(tmp_path: Path):
    path = column_path(tmp_path, 0, 0)
    write_columns(path, NO_TOKENS, [ROW.to_dict()], [])
    assert read_columns(path).requests == [ROW.to_dict()]


def test_counts_are_read_back_as_written_and_come_after_all_else(tmp_path: Path):
    counts = np.array([(3, 12), (70_000, 0)], TOKENIZER_COUNT)
    write_counts(column_path(tmp_path, 1, COUNTS_SEQ), counts)
    write_columns(column_path(tmp_path, 1, 999_999_999), NO_TOKENS, [ROW], [])
    *_, last = column_segments(tmp_path)
    found = read_columns(last.path)
    assert found.counts.tolist() == counts.tolist()
    assert (len(found.tokens), found.requests, found.pulses) == (0, [], [])


def test_an_empty_segment_is_a_file_too(tmp_path: Path):
    path = column_path(tmp_path, 0, 0)
    write_columns(path, NO_TOKENS, [], [])
    tokens, rows, pulses, counts = read_columns(path)
    assert (len(tokens), rows, pulses, len(counts)) == (0, [], [], 0)


def test_segments_are_listed_by_worker_oldest_first(tmp_path: Path):
    for worker, seq in [(10, 0), (2, 10), (2, 9), (2, 1_000_000)]:
        write_columns(column_path(tmp_path, worker, seq), NO_TOKENS, [], [])
    (tmp_path / "col-w2-000011.tmp").touch()
    decoded_mark(tmp_path, 2).touch()
    assert [(s.worker, s.seq) for s in column_segments(tmp_path)] == [
        (2, 9),
        (2, 10),
        (2, 1_000_000),
        (10, 0),
    ]


def test_a_file_that_was_not_synced_has_no_name_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = column_path(tmp_path, 0, 0)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_columns(path, NO_TOKENS, [ROW], [])
    assert column_segments(tmp_path) == []
    monkeypatch.undo()
    write_columns(path, NO_TOKENS, [ROW], [])
    assert len(read_columns(path).requests) == 1
