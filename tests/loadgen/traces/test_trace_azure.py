"""Azure's CSV: times to 100 ns, as written and with a zone."""

import numpy as np
import pytest

from loadgen.traces.registry import read_trace
from loadgen.traces.trace import TraceError

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def written(tmp_path, *lines, end="\r\n"):
    path = tmp_path / "azure.csv"
    path.write_bytes(end.join([HEADER, *lines]).encode())
    return path


def test_seven_decimals_are_kept_to_the_100_ns_they_are_written_in(tmp_path):
    path = written(
        tmp_path,
        "2023-11-16 23:59:59.9799601,4808,10",
        "2023-11-17 00:00:00.0319600,3180,8",
        "2023-11-17 00:00:00.0319601,110,27",
    )
    trace = read_trace(path)
    assert trace.format == "azure"
    assert np.rint(trace.t_s * 1e9).astype(int).tolist() == [0, 51_999_900, 52_000_000]
    assert trace.prompt_tokens.tolist() == [4808, 3180, 110]
    assert trace.output_tokens.tolist() == [10, 8, 27]
    assert (trace.prefix_ids, trace.session, trace.text, trace.notes) == (None, None, None, ())


def test_a_zone_is_counted_in(tmp_path):
    path = written(
        tmp_path,
        "2024-05-10 00:00:00.009930+00:00,1,1",
        "2024-05-10 02:00:01.009930+02:00,2,2",
        "2024-05-09T19:30:02.009930-0430,3,3",
        "2024-05-10 00:00:03Z,4,4",
    )
    assert read_trace(path).t_s.tolist() == pytest.approx([0, 1, 2, 2.99007])


def test_rows_out_of_order_are_sorted_and_counted(tmp_path):
    path = written(
        tmp_path, "2023-11-16 10:00:05,5,1", "2023-11-16 10:00:01,1,1", "2023-11-16 10:00:09,9,1"
    )
    trace = read_trace(path)
    assert trace.t_s.tolist() == [0, 4, 8]
    assert trace.prompt_tokens.tolist() == [1, 5, 9]
    assert "1 of 3 rows came with an earlier time" in trace.notes[0]


@pytest.mark.parametrize(
    "stamp",
    ["", "now", "2023-13-01 00:00:00", "2023-11-16", "16.11.2023 10:00", "1700158623", "NaT"],
)
def test_what_is_no_date_is_named_with_its_line(tmp_path, stamp):
    path = written(tmp_path, "2023-11-16 10:00:05,5,1", f"{stamp},5,1")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    message = str(caught.value)
    assert f"{path}, line 3: TIMESTAMP is {stamp or 'empty'}; expected a date" in message
