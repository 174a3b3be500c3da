"""What one entry of METRICS says: unit, formula in words and in SQL, when undefined, source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.frames import Floats

Unit = Literal[
    "ms", "tok/s", "req/s", "streams", "%", "ms per 1k tok", "per 1k tok", "σ/μ", "requests"
]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number: what it is, in which unit, when it does not exist, and who defines it so.

    `values` maps rows of the store's `requests` to one number per row (NaN: undefined); None for
    metrics of gaps or of a whole level, which level_gap.py and level_system.py compute.
    `sql`, of a metric per request: an expression over a row of the view request_times; else a
    SELECT over `w` and `asked` (metrics_sql.py).
    """

    name: str
    title: str
    unit: Unit
    better: Literal["lower", "higher", "neither"]
    per: Literal["request", "gap", "system"]
    formula: str
    sql: str
    undefined_when: str
    source: str
    values: Callable[[pd.DataFrame], Floats] | None = None
    short: str = ""  # a column's heading; empty: the title
    columns: tuple[
        str, ...
    ] = ()  # percentiles (of a system's metric: "value") the levels' table has
    is_headline: bool = False  # what a terminal prints; the others are in the full table and JSON
    is_objective: bool = False  # an SLO may name it
    is_ours: bool = False  # not the endpoint's latency: a failure does not make it late
    open_loop_only: bool = False

    @property
    def heading(self) -> str:
        """The name where there is little room."""
        return self.short or self.title
