"""Files that are no trace: one sentence with the file, the line, what was seen and expected."""

import bz2
import gzip
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadgen.traces.registry import TRACES, read_trace
from loadgen.traces.trace import TraceError

CSV = "t_s,prompt_tokens,output_tokens\n"
JSON = '{"t_s": 0, "prompt_tokens": 7, "output_tokens": 3}\n'


def error_of(tmp_path, content, format_="auto"):
    path = tmp_path / "trace"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TraceError) as caught:
        read_trace(path, format_)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith((".", "?"))
    assert "\n" not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize("format_", ["auto", *TRACES])
@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", " \r\n "])
def test_an_empty_file_says_that_it_is_empty(tmp_path, content, format_):
    assert error_of(tmp_path, content, format_) == " is empty; expected one request per line."


@pytest.mark.parametrize("format_", ["auto", *TRACES])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            gzip.compress(CSV.encode(), mtime=0),
            "packed (gzip), which is not supported; unpack it first",
        ),
        (bz2.compress(CSV.encode()), "packed (bzip2)"),
        (b"PK\x03\x04rest", "packed (zip)"),
        (b"\x28\xb5\x2f\xfdrest", "packed (zstd)"),
        (b"PAR1rest", "Parquet"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (CSV.encode("utf-16"), "UTF-16"),
        (CSV.encode("utf-16-le"), "NUL bytes"),
    ],
)
def test_what_is_no_text_is_called_by_its_name(tmp_path, content, said, format_):
    assert said in error_of(tmp_path, content, format_)


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    with pytest.raises(TraceError, match=r"nothing\.csv cannot be read: No such file"):
        read_trace(tmp_path / "nothing.csv")
    with pytest.raises(TraceError, match="no regular file"):
        read_trace(tmp_path)
    with pytest.raises(TraceError, match="no regular file"):
        read_trace(Path("/dev/null"))


@pytest.mark.skipif(not hasattr(os, "mkfifo") or sys.platform == "win32", reason="needs pipes")
def test_a_named_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="no regular file"):
        read_trace(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n", " has no column t_s and no column prompt_tokens and no column "
                       "output_tokens; its columns are 'a', 'b'."),
        ("t_ms,prompt_tokens\n1,2\n", " has no column output_tokens; its columns are "
                                      "'t_ms', 'prompt_tokens'."),
        ("5,472,18\n", "its columns are '5', '472', '18'."),
        ('{"t_s": 1, "prompt_tokens": 2}\n', " has no column output_tokens; its columns are "
                                             "'t_s', 'prompt_tokens'."),
        (",,\n", "its columns are none."),
    ],
)  # fmt: skip
def test_missing_columns_are_named_beside_those_found(tmp_path, content, said):
    assert error_of(tmp_path, content).endswith(said)


def test_the_columns_of_another_format_are_not_those_of_the_one_asked_for(tmp_path):
    said = error_of(tmp_path, CSV + "0,1,1\n", "azure")
    assert said.startswith(" has no column timestamp and no column contexttokens")
    assert "no column timestamp" in error_of(tmp_path, JSON, "mooncake")


def test_a_column_named_twice_is_refused(tmp_path):
    content = "t_s,prompt_tokens,output_tokens,t_s\n0,1,1,5\n"
    assert error_of(tmp_path, content) == " has two columns named 't_s'; expected one."


def test_a_header_without_rows_is_refused(tmp_path):
    assert "column names but no rows" in error_of(tmp_path, CSV)


def test_a_file_of_failures_only_is_refused(tmp_path):
    assert "each of its 2 rows has 0 prompt or 0 output" in error_of(tmp_path, CSV + "0,5,0\n0,0,5")


COUNT = "expected a whole number from 0 to 1,000,000."


@pytest.mark.parametrize("cell", ["-1", "nan", "inf", "1e300", "1000001", "2.5", "many", ""])
def test_a_count_that_is_none_is_named_with_its_line_in_a_csv(tmp_path, cell):
    said = error_of(tmp_path, CSV + f"0,7,3\n\n1,{cell},3\n")
    assert said == f", line 4: prompt_tokens is {cell or 'empty'}; {COUNT}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("-1", "is -1"),
        ("1e300", "is 1e+300"),
        ('"12"', "is '12'"),
        ("true", "is True"),
        ("[1]", "is [1]"),
        ("null", "is missing"),
        ("99999999999999999999", "is 1e+20"),
    ],
)
def test_a_count_that_is_none_is_named_with_its_line_in_a_jsonl(tmp_path, value, shown):
    row = f'{{"t_s": 0, "prompt_tokens": {value}, "output_tokens": 3}}'
    assert error_of(tmp_path, JSON + row) == f", line 2: prompt_tokens {shown}; {COUNT}"


@pytest.mark.parametrize("cell", ["-0.5", "nan", "inf", "1e300", "soon", ""])
def test_a_time_that_is_none_is_named_with_its_line(tmp_path, cell):
    said = error_of(tmp_path, CSV + f"0,7,3\n{cell},7,3\n")
    assert said.startswith(
        f", line 3: t_s is {cell or 'empty'}; expected dates in every row, or seconds"
    )


def test_a_date_among_seconds_and_a_number_among_dates_are_named(tmp_path):
    rows = CSV + "0,7,3\n2025-01-01 00:00:00,7,3\n"
    assert "line 3: t_s is 2025-01-01 00:00:00" in error_of(tmp_path, rows)
    rows = CSV + "2025-01-01 00:00:00,7,3\n7,7,3\n"
    assert "line 3: t_s is 7; expected a date and time" in error_of(tmp_path, rows)


def test_milliseconds_taken_for_seconds_are_noticed(tmp_path):
    said = error_of(tmp_path, CSV + "1700000000000,7,3\n1700003600000,7,3\n")
    assert said.endswith(
        "t_s is 1700000000000; expected dates in every row, or seconds from 0 to 1e+11."
    )
    said = error_of(tmp_path, CSV + "0,7,3\n1e10,7,3\n")
    assert said.endswith("more than 10 years; are its times in another unit?")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CSV + "0,7,3\n1,7\n", ", line 3 has 2 cells; the header has 3 columns."),
        (CSV + "0,7,3,9\n", ", line 2 has 4 cells; the header has 3 columns."),
        (CSV + '0,7,3\n1,"7,3\n', ", line 3 is not CSV: unexpected end of data."),
        (JSON + "{\n", ", line 2 is not JSON: "),
        (JSON + '{"t_s": NaN}\n', ", line 2 is not JSON: "),
        (JSON + "[1]\n", ", line 2 is a JSON array; expected one object per line."),
        (JSON + "7\n", ", line 2 is a JSON number; expected one object per line."),
        ('[{"t_s": 0}]', " begins with a JSON array; expected one JSON object per line."),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path, content, said):
    assert error_of(tmp_path, content).startswith(said)


def test_a_line_in_another_encoding_is_named(tmp_path):
    content = b"t_s,prompt_tokens,output_tokens,prompt\n0,7,3,ok\n1,7,3,na\xefve\n"
    assert error_of(tmp_path, content) == ", line 3 holds the byte 0xef; expected UTF-8."
    assert error_of(tmp_path, b"pr\xefmpt\n") == ", line 1 holds the byte 0xef; expected UTF-8."


def test_a_prompt_or_a_conversation_of_another_kind_is_named(tmp_path):
    row = '{"t_s": 0, "prompt_tokens": 7, "output_tokens": 3, '
    said = error_of(tmp_path, JSON + row + '"prompt": 5}')
    assert said == ", line 2: prompt is 5; expected a string."
    said = error_of(tmp_path, JSON + row + '"session": [5]}')
    assert said == ", line 2: session is [5]; expected a string or a number."


def test_the_line_of_a_quoted_cell_of_several_lines_is_the_one_it_begins_on(tmp_path):
    content = "prompt,t_s,prompt_tokens,output_tokens\n" + '"a\nb\nc",0,7,3\n"d\ne",1,x,3\n'
    assert ", line 5: prompt_tokens is x" in error_of(tmp_path, content)


def test_a_long_cell_is_shown_in_part(tmp_path):
    assert len(error_of(tmp_path, CSV + f"0,{'9x' * 5000},3")) < 150


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([b"", CSV.encode(), JSON.encode(), b"TIMESTAMP,ContextTokens,"]),
       st.binary(max_size=60), st.sampled_from(["auto", *TRACES]))  # fmt: skip
def test_any_bytes_are_a_trace_or_one_sentence(tmp_path, begin, rest, format_):
    path = tmp_path / "trace"
    path.write_bytes(begin + rest)
    try:
        trace = read_trace(path, format_)
    except TraceError as error:
        said = str(error)
    else:
        said = f"{path} has {len(trace)} rows"
        assert len(trace) == len(trace.prompt_tokens) == len(trace.output_tokens) > 0
    assert said.startswith(str(path))
