"""The raw spool, load worker -> decoder: every read as it came, in files of the run's `spool/`.

raw-w<worker>.lock            held (flock) while the worker's writer lives
raw-w<worker>-<seq>.open      being written, held too; free: its writer died, read it as it is
raw-w<worker>-<seq>.seg       sealed: full or a second old
raw-w<worker>-<seq>.done      decoded (the decoder renames), kept while an open stream began in it
next-w<worker>-<random>.tmp   the next file, made ahead; a killed worker leaves it behind
"""

from storage.raw_reader import (
    RawReader,
    RawSegment,
    backlog_bytes,
    is_writer_alive,
    raw_segments,
    remove_leftovers,
)
from storage.raw_record import CLOSE, OPEN, PULSE, READ, RawRecord, SpoolError
from storage.raw_writer import RawWriter

__all__ = [
    "CLOSE",
    "OPEN",
    "PULSE",
    "READ",
    "RawReader",
    "RawRecord",
    "RawSegment",
    "RawWriter",
    "SpoolError",
    "backlog_bytes",
    "is_writer_alive",
    "raw_segments",
    "remove_leftovers",
]
