"""Writes docs/metrics.md from METRICS: `python -m analysis.docs`.  A test says when it is stale."""

from pathlib import Path

from analysis.metrics import METRICS, Metric
from analysis.metrics_sql import Level, question

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"

INTRODUCTION = """\
# Metrics

Written by `python -m analysis.docs` from `analysis/metrics_*.py`; edit those files, not this page.

Every number Headway shows, said once. The words *send*, *due*, *first_token*, *last_token*, *chunk*
are those of [the glossary](glossary.md).

* **Percentiles** use linear interpolation (numpy's default, DuckDB's `quantile_cont`).
* **Intervals** of per-request percentiles are exact binomial order statistics at 95 %: no
  assumption on the distribution, but independent requests. Without enough samples there is no upper
  bound; p50 needs 6, p90 36, p95 72, p99 368 requests. The interval of System output TPS is
  Student's t over 10 to 20 equal batches.
* **Undefined** is empty and counted, never 0.
* **Failed requests** are never in a latency percentile; where a request failed, `with_failures`
  counts each failure as infinitely late. Streams that Headway ended itself (`cancelled`) count
  nowhere but in their own number.
* **The window** of a level leaves out ramp and drain; a request belongs to it by the instant it was
  due (open loop) or sent.
* Which part of a level counts, when a run may be believed and when an objective is met:
  [how a run is judged](judging.md).
* There is no bare "tokens per second": it is end to end, decode per user, or of the system.

## In SQL

Each metric has its formula in SQL too, for the SQL page. That of a metric per request is an
expression over a row of the view `request_times` ([the tables](schema.md)), in the metric's unit.
Those of gaps and of a whole level read three tables in front of them: `w` (one row: the run, the
level, its window from `w0` to `w1` in µs), `load` (the level's requests) and `asked` (those of the
window). The Run page has each question filled in for its level. TTFT p50 to p99 of level 0:

```sql
EXAMPLE
```

What reads `token_events` needs them to be there still; what reads a column of `request_gaps`
(`longest_gap_us`, `gap_p50_us`, `paused_us`, …) needs the run to be over.

## What is not here

* *Time to first chunk* of any kind, a role-only one included: the instant of such an event is not
  stored, only how many there were, because nobody can read a role. `first_byte_us` and `headers_us`
  of `requests` are.
* A mean without its percentiles.
"""

HEADINGS = {
    "request": "Per request",
    "gap": "Of the gaps between tokens",
    "system": "Of the whole system, per level",
}


def page() -> str:
    """The text of docs/metrics.md."""
    example = question(METRICS["ttft"], Level("0190a0c0-…", 0, 280_000, 55_720_001))
    parts = [INTRODUCTION.replace("EXAMPLE", example)]
    for per, heading in HEADINGS.items():
        parts.append(f"## {heading}\n")
        parts += [_entry(metric) for metric in METRICS.values() if metric.per == per]
    return "\n".join(parts)


def _entry(metric: Metric) -> str:
    better = {"lower": "lower is better", "higher": "higher is better", "neither": "no direction"}
    loop = "\n* Open loop only." if metric.open_loop_only else ""
    return f"""\
### {metric.title} (`{metric.name}`, {metric.unit})

* {metric.formula}; {better[metric.better]}.
* Undefined when: {metric.undefined_when}.
* Source: {metric.source}.{loop}

```sql
{_sql(metric)}
```
"""


def _sql(metric: Metric) -> str:
    """The formula, its long expressions cut into lines."""
    if metric.per != "request":
        return metric.sql
    return metric.sql.replace(" THEN ", "\n    THEN ").replace(" END", "\nEND")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
