"""The row of `stages` that says what a level was asked to be."""

from typing import Any

from loadgen.plan import ClosedLoop, Load, OpenLoop
from loadgen.program import Step
from storage.records import StageRow


def level_row(stage: int, step: Step, begin_us: int) -> StageRow:
    """Not yet ended; begin_us: µs from the run's time zero."""
    load = step.load
    return StageRow(
        stage=stage,
        name=load.name,
        kind=load.kind,
        concurrency=load.peak if isinstance(load, ClosedLoop) else None,
        rate_per_s=_rate_per_s(load),
        begin_us=begin_us,
        issue_end_us=None,
        end_us=None,
        load=told(load),
        asked=step.asked,
        why=step.why,
    )


def told(load: Load) -> dict[str, Any]:
    """A load as the workers are told it (plan_stages.load_of reads it back)."""
    return load.model_dump(mode="json")


def _rate_per_s(load: Load) -> float | None:
    """None where there is no rate, or none that stays the same."""
    if isinstance(load, OpenLoop) and isinstance(load.rate_per_s, float | int):
        return float(load.rate_per_s)
    return None
