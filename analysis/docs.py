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
* **Intervals** are at 95 %. Of a percentile per request: exact binomial order statistics, free of
  any assumption on the distribution. Without enough samples there is no upper bound; p50 needs 6,
  p90 36, p95 72, p99 368 and p99.9 3,688 independent requests.
* **`n_eff`**: requests sent one after another are alike where they queue, so they tell less than as
  many independent ones: n ÷ (1 + 2 Σ ρ) of "slower than the percentile", in the order of sending.
  The interval counts `n_eff` samples where that is below 0.9 n, and needs that much more of them.
* **Gaps** depend on each other more: those of one request are alike, and a stall stops every
  request. Their `n_eff` comes from how shares of gaps scatter from request to request and from one
  block of time to the next (5 s or two median answers), the smaller of the two. Above 500,000 gaps
  of a level it is by block only, where there are ten. A stall share has its interval in the same
  way.
* **Rates** have Student's t over 10 to 20 equal batches of at least two median answers each;
  offered requests have none: they are asked for, not estimated.
* Within one run an interval knows nothing of the next run. Five runs say more than any of these.
  Why so and not by resampling: [ADR 11](adr/0011-intervals.md).
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
