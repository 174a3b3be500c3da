"""Every trace format by the name a plan gives it, and finding out which one a file has."""

from collections.abc import Callable
from pathlib import Path

from loadgen.traces import azure, burstgpt, mooncake, own_csv, own_jsonl
from loadgen.traces.chunk import plain
from loadgen.traces.csv_rows import header_names
from loadgen.traces.json_rows import key_names
from loadgen.traces.trace import Trace, TraceError
from loadgen.traces.trace_file import first_line

TRACES: dict[str, Callable[[Path], Trace]] = {
    "azure": azure.read,
    "mooncake": mooncake.read,
    "burstgpt": burstgpt.read,
    "csv": own_csv.read,
    "jsonl": own_jsonl.read,
}

_MARKS = {  # columns that only this format has; names as `plain` gives them
    "azure": {"timestamp", "contexttokens", "generatedtokens"},
    "burstgpt": {"timestamp", "request_tokens", "response_tokens"},
}
_MOONCAKE = {"timestamp", "input_length", "output_length"}


def read_trace(path: Path, format_: str = "auto") -> Trace:
    """The trace in a file; raises TraceError, one sentence with the file and, if any, the line."""
    return TRACES[format_of(path) if format_ == "auto" else format_](path)


def format_of(path: Path) -> str:
    """The format by a file's first line: by its column names, else `csv` or `jsonl`."""
    line = first_line(path)
    if line.startswith("["):
        raise TraceError(f"{path} begins with a JSON array; expected one JSON object per line.")
    if line.startswith("{"):
        return "mooncake" if set(map(plain, key_names(path))) >= _MOONCAKE else "jsonl"
    names = set(map(plain, header_names(path)))
    return next((name for name, marks in _MARKS.items() if names >= marks), "csv")
