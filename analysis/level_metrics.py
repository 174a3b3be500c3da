"""Every entry of METRICS for one load level, as `show --json` writes it; undefined is None."""

from typing import Any

from analysis.level_batches import with_intervals
from analysis.level_gap import gap_metrics
from analysis.level_request import request_metrics
from analysis.level_system import system_metrics
from analysis.metrics import METRICS
from analysis.metrics_gap import GAPS
from analysis.metrics_stream import STREAM
from analysis.reading import Reading, StageReading

Json = dict[str, Any]

OF_CHUNKS = tuple(metric.name for metric in (*GAPS, *STREAM))
NO_CHUNKS = "file has no chunk times"
NO_REQUESTS = "file has no requests"  # short: they stand on tiles too


def level_metrics(reading: Reading, stage: StageReading) -> Json:
    """Every entry by name, in the order of METRICS; what is None has a `reason`."""
    found = request_metrics(stage) | gap_metrics(stage) | system_metrics(reading, stage)
    with_intervals(found, reading, stage)
    _say_what_the_file_lacks(found, reading, stage)
    return {name: found[name] for name in METRICS}


def _say_what_the_file_lacks(found: Json, reading: Reading, stage: StageReading) -> None:
    """Of an imported run: what is undefined because the file does not tell it."""
    imported = reading.facts.get("imported")
    if not imported:
        return
    if not stage.is_told:
        names, why = tuple(found), NO_REQUESTS
    else:
        names = () if imported.get("has_chunks", True) else OF_CHUNKS
        why = NO_CHUNKS
    for name in names:
        if "reason" in found[name]:
            found[name]["reason"] = why
