"""BurstGPT's CSV: with sessions and, in its older files, without; failures are left out."""

from loadgen.traces.registry import read_trace
from loadgen.traces.trace import NONE

NEW = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"
OLD = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"


def written(tmp_path, *lines):
    path = tmp_path / "burst.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_sessions_are_numbered_by_first_appearance(tmp_path):
    path = written(
        tmp_path,
        NEW,
        "5,abc,1.5,ChatGPT,472,18,490,Conversation log",
        "45.5,,2,GPT-4,1087,230,1317,API log",
        "118,xyz,2,GPT-4,417,276,693,Conversation log",
        "120,abc,2,GPT-4,10,20,30,Conversation log",
    )
    trace = read_trace(path)
    assert trace.format == "burstgpt"
    assert trace.t_s.tolist() == [0, 40.5, 113, 115]
    assert trace.session is not None
    assert trace.session.tolist() == [0, NONE, 1, 0]
    assert trace.prompt_tokens.tolist() == [472, 1087, 417, 10]
    assert trace.output_tokens.tolist() == [18, 230, 276, 20]


def test_the_older_file_has_no_sessions(tmp_path):
    trace = read_trace(written(tmp_path, OLD, "5,ChatGPT,472,18,490,Conversation log"))
    assert (trace.format, trace.session) == ("burstgpt", None)


def test_a_failure_is_left_out_and_counted_and_time_begins_with_the_first_that_is_sent(tmp_path):
    path = written(
        tmp_path,
        OLD,
        "5,ChatGPT,472,0,472,Conversation log",
        "7,ChatGPT,472,18,490,Conversation log",
        "8,ChatGPT,472,18,490,API log",
    )
    trace = read_trace(path)
    assert trace.t_s.tolist() == [0, 1]
    assert trace.notes == (
        "1 of 3 rows have 0 prompt or 0 output tokens (requests that failed) and are left out.",
    )
