"""One's own trace as CSV; its columns are in own_columns.py and docs/traces.md."""

from pathlib import Path

from loadgen.traces.csv_rows import csv_chunks, header_names
from loadgen.traces.own_columns import own_trace, wanted_of
from loadgen.traces.trace import Trace


def read(path: Path) -> Trace:
    """The trace of a CSV file with a header; raises TraceError."""
    wanted = wanted_of(header_names(path))
    return own_trace(path, "csv", wanted, csv_chunks(path, wanted))
