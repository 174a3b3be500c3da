"""BurstGPT's trace: CSV with Timestamp (s), Request tokens, Response tokens, maybe Session ID.

The older files lack Session ID and Elapsed time; Model, Log Type and Total tokens are not used.
Response tokens are 0 for a request that failed: such rows are left out, and a note counts them.
Source: Wang et al., BurstGPT, 2024; its README.
"""

from pathlib import Path

from loadgen.traces.cells import SECONDS, Numbering, counts, times
from loadgen.traces.chunk import Wanted
from loadgen.traces.csv_rows import csv_chunks
from loadgen.traces.draft import Draft, Piece
from loadgen.traces.trace import Trace

WANTED = Wanted(
    required={
        "at": ("timestamp",),
        "prompt_tokens": ("request_tokens",),
        "output_tokens": ("response_tokens",),
    },
    optional={"session": ("session_id", "sessionid")},
)


def read(path: Path) -> Trace:
    """The trace of a BurstGPT CSV; raises TraceError."""
    draft = Draft(path, "burstgpt")
    sessions = Numbering()
    for chunk in csv_chunks(path, WANTED):
        draft.add(
            Piece(
                at=times(chunk, "at", SECONDS),
                prompt_tokens=counts(chunk, "prompt_tokens"),
                output_tokens=counts(chunk, "output_tokens"),
                session=sessions.of(chunk, "session") if "session" in chunk.columns else None,
            )
        )
    return draft.finish(ticks_per_s=SECONDS.per_s)
