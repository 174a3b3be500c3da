"""Azure's LLM inference traces, 2023 (and 2024, whose times carry a zone).

CSV with TIMESTAMP (YYYY-mm-dd HH:MM:SS.fffffff), ContextTokens, GeneratedTokens; no text.
Source: Azure Public Dataset; Patel et al., Splitwise, ISCA 2024.
"""

from pathlib import Path

from loadgen.traces.cells import counts, dates_ns
from loadgen.traces.chunk import Wanted
from loadgen.traces.csv_rows import csv_chunks
from loadgen.traces.draft import Draft, Piece
from loadgen.traces.trace import Trace

WANTED = Wanted(
    required={
        "at": ("timestamp",),
        "prompt_tokens": ("contexttokens",),
        "output_tokens": ("generatedtokens",),
    },
    optional={},
)


def read(path: Path) -> Trace:
    """The trace of an Azure CSV; raises TraceError."""
    draft = Draft(path, "azure")
    for chunk in csv_chunks(path, WANTED):
        draft.add(
            Piece(
                at=dates_ns(chunk, "at"),
                prompt_tokens=counts(chunk, "prompt_tokens"),
                output_tokens=counts(chunk, "output_tokens"),
            )
        )
    return draft.finish(ticks_per_s=1e9)
