"""Lengths from a file: its numbers, or a sentence that names the line."""

import pytest

from loadgen.lengths_file import read_lengths
from loadgen.plan_parts import PlanError


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, name="lengths.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize(
    ("content", "column"),
    [
        ("10\n20\n30\n", None),
        ("\ufeff10\r\n\r\n20\r\n30", None),
        ("tokens\n10\n20.2\n29.9\n", None),
        ("id,tokens\n1,10\n2,20\n3,30\n", "tokens"),
        ('{"tokens": 10}\n{"tokens": 20}\n\n{"tokens": 30}\n', "tokens"),
        ('[{"tokens": 10},\n {"tokens": 20}, {"tokens": 30}]', "tokens"),
    ],
)
def test_numbers_are_read_in_their_order(write, content, column):
    assert read_lengths(write(content), column).tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("content", "column", "said"),
    [
        ("10\nmany\n", None, r"line 2: 'many' is no length; expected a number from 1 to 1,000,000"),
        ("10\n0\n", None, "line 2: '0' is no length"),
        ("10\nnan\n", None, "line 2: 'nan' is no length"),
        ("", None, "holds no numbers"),
        ("tokens\n", None, "holds no numbers"),
        ("a,b\n1,2\n", None, r"line 1 has the columns a,b; name one"),
        ("a,b\n1,2\n", "c", r"line 2 has the columns a, b; expected 'c'"),
        ("a,b\n1\n", "b", r"line 2 has 1 cells; expected 2"),
        ('{"a": 1}\n', None, r"line 1 has the columns a; name one"),
        ('{"a": 1}\n{"a"\n', "a", r"line 2 is no JSON"),
        ("[1, 2]", "a", r"item 1 holds a int; expected an object"),
        (b"10\n\xff\n", None, r"line 2 is not UTF-8 \(byte 1 is 0xff\)"),
        (b"\xff\xfe1\x000\x00", None, "is UTF-16; save it as UTF-8"),
    ],
)
def test_what_is_no_length_is_named_with_its_line(write, content, column, said):
    with pytest.raises(PlanError, match=said):
        read_lengths(write(content), column)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(PlanError, match=r"no\.txt cannot be read: No such file"):
        read_lengths(str(tmp_path / "no.txt"))
    with pytest.raises(PlanError, match="is a folder"):
        read_lengths(str(tmp_path))
