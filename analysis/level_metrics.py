"""Every entry of METRICS for one load level, as `show --json` writes it; undefined is None."""

from typing import Any

from analysis.level_batches import with_intervals
from analysis.level_gap import gap_metrics
from analysis.level_request import request_metrics
from analysis.level_system import system_metrics
from analysis.metrics import METRICS
from analysis.reading import Reading, StageReading

Json = dict[str, Any]


def level_metrics(reading: Reading, stage: StageReading) -> Json:
    """Every entry by name, in the order of METRICS; what is None has a `reason`."""
    found = request_metrics(stage) | gap_metrics(stage) | system_metrics(reading, stage)
    with_intervals(found, reading, stage)
    return {name: found[name] for name in METRICS}
