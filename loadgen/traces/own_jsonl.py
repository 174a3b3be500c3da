"""One's own trace as JSONL; its keys are in own_columns.py and docs/traces.md."""

from pathlib import Path

from loadgen.traces.json_rows import json_chunks, key_names
from loadgen.traces.own_columns import own_trace, wanted_of
from loadgen.traces.trace import Trace


def read(path: Path) -> Trace:
    """The trace of a file with one JSON object per line; raises TraceError."""
    wanted = wanted_of(key_names(path))
    return own_trace(path, "jsonl", wanted, json_chunks(path, wanted))
