"""Rows of files as people have them: byte order marks, CRLF, huge lines, half of a list."""

import json
import tracemalloc

import pytest

from loadgen.table_rows import READ_BYTES, rows
from loadgen.text_lines import FileTrouble, text_lines


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def values(path):
    return [row.values for row in rows(path)]


@pytest.mark.parametrize(
    "content",
    [
        '{"a": "x"}\n{"a": "日本 🙂"}\n',
        '\ufeff{"a": "x"}\r\n\r\n{"a": "日本 🙂"}',
        '[{"a": "x"}, {"a": "日本 🙂"}]',
        '\ufeff [\n{"a": "x"}\n,{"a": "\\u65e5本 🙂"}\n]\n',
        "a\nx\n日本 🙂\n",
        "\ufeffa \r\nx\r\n\r\n日本 🙂\r\n",
    ],
)
def test_each_format_gives_the_same_rows(write, content):
    assert values(write(content)) == [{"a": "x"}, {"a": "日本 🙂"}]


def test_a_quoted_cell_may_hold_commas_quotes_and_line_ends(write):
    got = list(rows(write('a,b\n"one, ""two""\nthree",4\n5,6\n')))
    assert [row.values for row in got] == [
        {"a": 'one, "two"\nthree', "b": "4"},
        {"a": "5", "b": "6"},
    ]
    assert got[1].where.endswith("file, line 4")


def test_a_list_larger_than_one_read_is_had_item_by_item(write):
    items = [{"n": i, "text": "é" * 1000} for i in range(2 * READ_BYTES // 1000)]
    assert values(write(json.dumps(items, ensure_ascii=False))) == items
    assert values(write(json.dumps(items))) == items


@pytest.mark.parametrize("content", ['[{"a": 1}', "[", '[{"a": 1}, {"a"', "[{'a': 1}]"])
def test_a_list_that_is_cut_off_says_so(write, content):
    with pytest.raises(FileTrouble, match="is no JSON list, or is cut off"):
        values(write(content))


@pytest.mark.parametrize("content", ['q,n\n"how many,5\nwhy,6\n', 'q,n\n"how" many,5\n'])
def test_a_quote_that_is_not_closed_does_not_swallow_the_rest(write, content):
    with pytest.raises(FileTrouble, match=r"line \d is no CSV: .*line \d.*quote"):
        values(write(content))


def test_a_bad_row_is_named_and_the_others_go_on(write):
    got = list(rows(write('{"a": 1}\n{"a": \n[5]\n{"a": "\\ud800"}\n{"a": 2}\n')))
    assert [row.where.split("file, ")[1] for row in got] == [f"line {n}" for n in range(1, 6)]
    assert [row.problem is None for row in got] == [True, False, False, False, True]
    assert got[2].problem == "holds a list; expected an object"


def test_a_void_file_has_no_rows(write):
    assert values(write("")) == []
    assert values(write("[]")) == []
    assert values(write("\n\n")) == []


def test_a_line_of_100_mb_is_refused_without_reading_all_of_it(tmp_path):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b"{}\n{")
        file.truncate(100_000_000)
    tracemalloc.start()
    with pytest.raises(FileTrouble, match=r"huge\.jsonl, line 2 is longer than 32 MiB"):
        list(text_lines(path))
    assert tracemalloc.get_traced_memory()[1] < 80_000_000
    tracemalloc.stop()
