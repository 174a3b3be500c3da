"""One's own CSV and JSONL files: columns, other names for them, units of time."""

import json

import pytest

from loadgen.traces import draft
from loadgen.traces.registry import read_trace
from loadgen.traces.trace import NONE, TraceError


def csv_file(tmp_path, text):
    path = tmp_path / "own.csv"
    path.write_bytes(text.encode())
    return path


def jsonl_file(tmp_path, *rows):
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_every_documented_column_of_a_csv_is_read(tmp_path):
    trace = read_trace(
        csv_file(
            tmp_path,
            "t_s,prompt_tokens,output_tokens,prefix_group,conversation,prompt,unused\n"
            '10,7,3,support,a,"Hello, ""you""\nthere",x\n'
            "12.5,8.0,4,,,,x\n"
            "13,9,5,code,a,Bye,x\n",
        )
    )
    assert trace.format == "csv"
    assert trace.t_s.tolist() == [0, 2.5, 3]
    assert trace.prompt_tokens.tolist() == [7, 8, 9]
    assert trace.prefix_group is not None
    assert trace.prefix_group.tolist() == [0, NONE, 1]
    assert trace.session is not None
    assert trace.session.tolist() == [0, NONE, 0]
    assert trace.text == ['Hello, "you"\nthere', "", "Bye"]


def test_every_documented_key_of_a_jsonl_is_read_also_where_only_later_rows_have_it(tmp_path):
    row = {"t_s": 0, "prompt_tokens": 7, "output_tokens": 3}
    trace = read_trace(
        jsonl_file(
            tmp_path,
            row,
            {**row, "t_s": 1.5, "prefix_group": 4, "session": "u1", "prompt": "Hi\u2028there"},
            {**row, "t_s": 2, "prefix_group": None, "conversation": "u1"},
        )
    )
    assert trace.format == "jsonl"
    assert trace.prefix_group is not None
    assert trace.prefix_group.tolist() == [NONE, 0, NONE]
    assert trace.session is not None
    assert trace.session.tolist() == [NONE, 0, 0]
    assert trace.text == ["", "Hi\u2028there", ""]


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("t_s", "1", "3"),
        ("timestamp", "1700000001.5", "1700000003.5"),
        ("Timestamp MS", "1700000001500", "1700000003500"),
        ("t_ms", "0", "2000"),
        ("timestamp", "2025-01-31T23:59:59", "2025-02-01 00:00:01"),
    ],
)
def test_times_may_be_seconds_milliseconds_or_dates(tmp_path, header, first, second):
    text = f"{header},Input Tokens,completion-tokens\n{first},7,3\n{second},8,4\n"
    assert read_trace(csv_file(tmp_path, text)).t_s.tolist() == [0, 2]
    keys = dict.fromkeys((header, "input_tokens", "completion_tokens"), 5)
    rows = [{**keys, header: json.loads(t) if t.isdigit() else t} for t in (first, second)]
    if "." not in first:
        assert read_trace(jsonl_file(tmp_path, *rows)).t_s.tolist() == [0, 2]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_marks_and_blank_lines_of_any_tool_are_read(
    tmp_path, delimiter, end, mark
):
    lines = ["", "t_s,prompt_tokens,output_tokens", "", "0,7,3", "  ", ",,", "1,8,4", ""]
    text = mark + end.join(lines).replace(",", delimiter)
    trace = read_trace(csv_file(tmp_path, text))
    assert (trace.t_s.tolist(), trace.prompt_tokens.tolist()) == ([0, 1], [7, 8])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_jsonl_may_have_a_mark_blank_lines_and_either_line_end(tmp_path, end):
    row = '{"t_s": 0, "prompt_tokens": 7, "output_tokens": 3}'
    path = tmp_path / "own.jsonl"
    path.write_bytes(("\ufeff" + end + row + end + end + row).encode())
    assert read_trace(path).prompt_tokens.tolist() == [7, 7]


def test_a_file_of_several_chunks_is_one_trace(tmp_path, monkeypatch):
    monkeypatch.setattr("loadgen.traces.csv_rows.CHUNK_ROWS", 3)
    rows = "".join(f"{i % 7},{i + 1},3,{i % 2}\n" for i in range(10))
    trace = read_trace(csv_file(tmp_path, "t_s,prompt_tokens,output_tokens,conversation\n" + rows))
    pairs = sorted(((i % 7, i + 1) for i in range(10)), key=lambda pair: pair[0])
    assert list(zip(trace.t_s.tolist(), trace.prompt_tokens.tolist(), strict=True)) == pairs
    assert trace.session is not None
    assert trace.session.tolist() == [(n - 1) % 2 for _, n in pairs]


def test_a_column_that_only_a_later_chunk_has_fills_the_earlier_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("loadgen.traces.json_rows.CHUNK_ROWS", 2)
    row = {"t_s": 0, "prompt_tokens": 7, "output_tokens": 3}
    trace = read_trace(jsonl_file(tmp_path, row, row, {**row, "prompt": "Hi", "session": 1}))
    assert trace.text == ["", "", "Hi"]
    assert trace.session is not None
    assert trace.session.tolist() == [NONE, NONE, 0]


def test_more_rows_or_text_than_can_be_held_are_refused(tmp_path, monkeypatch):
    text = "t_s,prompt_tokens,output_tokens,prompt\n" + "0,7,3,Hello\n" * 10
    monkeypatch.setattr(draft, "MOST_TEXT_CHARS", 49)
    with pytest.raises(TraceError, match="more than 49 characters"):
        read_trace(csv_file(tmp_path, text))
    monkeypatch.setattr(draft, "MOST_ROWS", 9)
    with pytest.raises(TraceError, match="more than 9 requests"):
        read_trace(csv_file(tmp_path, text))
