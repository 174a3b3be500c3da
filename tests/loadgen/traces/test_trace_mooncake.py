"""Mooncake's JSONL: milliseconds and prefix blocks."""

import json

import pytest

from loadgen.traces.registry import read_trace
from loadgen.traces.trace import TraceError


def row(timestamp=0, **more):
    return {"timestamp": timestamp, "input_length": 655, "output_length": 52, **more}


def written(tmp_path, *rows):
    path = tmp_path / "moon.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_times_are_milliseconds_and_hash_ids_become_blocks(tmp_path):
    path = written(tmp_path, row(500, hash_ids=[46, 47]), row(11_035, hash_ids=[46, 48]))
    trace = read_trace(path)
    assert trace.format == "mooncake"
    assert trace.t_s.tolist() == [0, 10.535]
    assert trace.prompt_tokens.tolist() == [655, 655]
    assert trace.prefix_ids is not None
    assert [trace.prefix_ids.of(i) for i in range(2)] == [(0, 1), (0, 2)]


def test_blocks_follow_their_rows_when_these_are_sorted_or_left_out(tmp_path):
    path = written(
        tmp_path,
        row(3000, hash_ids=[7, 9]),
        row(1000, hash_ids=[7, 8]),
        row(2000, hash_ids=[5], output_length=0),
        row(4000),
    )
    trace = read_trace(path)
    assert trace.t_s.tolist() == [0, 2, 3]
    assert trace.prefix_ids is not None
    assert [trace.prefix_ids.of(i) for i in range(3)] == [(0, 1), (0, 2), ()]


def test_a_file_without_hash_ids_has_no_blocks(tmp_path):
    assert read_trace(written(tmp_path, row(), row(1))).prefix_ids is None


@pytest.mark.parametrize("ids", [7, "7", [7, "8"], [-1], [2**63], [1.5], [[1]], [True], {"a": 1}])
def test_hash_ids_that_are_no_list_of_numbers_are_named_with_their_line(tmp_path, ids):
    path = written(tmp_path, row(hash_ids=[1]), row(hash_ids=ids))
    with pytest.raises(TraceError, match=r"line 2: hash_ids is .*; expected a list of whole"):
        read_trace(path)
