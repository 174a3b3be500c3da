"""The README.txt of an exported run: what each file is, and how to read it without Headway."""

from typing import Any

from storage.exchange.removed import day_of

WHAT = {
    "runs": "the run: one row, with its plan",
    "stages": "its load levels",
    "requests": "one row per request that has ended, whatever its outcome",
    "token_events": "one row per event that carried tokens",
    "pulses": "the load generator's own health, per load worker and second",
    "hist": "histograms of the gaps between chunks and per token",
    "tok_sec": "arrivals per second",
    "doubt_sec": "how far arrivals may be trusted, per load worker and second",
    "request_gaps": "what the gaps of each request were like",
    "windows": "windows of levels that a reader moved",
    "summary": "counts and times per load level",
}


def readme(run: dict[str, Any], rows: dict[str, int]) -> str:
    """The text.  run: the row of the store's `run`; rows: by table."""
    dropped_ns = run.get("raw_dropped_epoch_ns")
    width = max(len(name) for name in rows)
    files = "\n".join(
        f"  {name + '.parquet':<{width + 8}}  {n:>12,}  {WHAT.get(name, 'see docs/schema.md')}"
        for name, n in rows.items()
    )
    return _TEXT.format(
        name=" ".join(str(run["name"]).split()),
        origin=f"of {run['source']}, read with" if run["source"] else "measured with",
        plan=_INVENTED if run["source"] else _PLAN,
        uid=run["run_uid"],
        files=files,
        gone=_GONE.format(day=day_of(dropped_ns)) if dropped_ns else "",
        zero=run["epoch_ns"],
    )


_PLAN = "the exact plan; headway run plan.json measures the same again"
_GONE = "\n  (The run's token events were removed on {day}, before it was exported.)"
_INVENTED = "what the tool's file tells of its load"
_TEXT = """\
{name}
Run {uid}, {origin} Headway, a load generator for streaming LLM endpoints.

To look at it: headway import THIS.zip, then headway serve.
Importing it twice changes nothing; it never collides with runs that are there.

Files                    rows
{files}{gone}
  plan.json      {plan}
  run.json       facts about the run: machine, versions, preflight, notes
  summary.json   every metric by load level, as headway show --json prints it
  headway.json   version of this format and of the tables, rows by table

Reading the tables
* The Parquet files open in DuckDB, pandas, Polars, Spark, R, …:
    duckdb -c "SELECT stage, quantile_cont(first_token_us - send_us, [0.5, 0.95, 0.99]) AS ttft_us
               FROM 'requests.parquet' WHERE outcome = 'complete' GROUP BY stage"
* *_us are whole microseconds.  Instants count from the run's time zero, which was at
  {zero} ns after 1970 on the wall clock (runs.epoch_ns).
* Null means "there is no such thing" or "nobody told", never 0.
* run_uid is the run's identity everywhere; request_id counts from 0 within the run.
* Every column with its unit and what its null means: docs/schema.md in Headway's source.
* A chunk may hold several tokens: token_events.n_tokens, null where the server did not tell.
* shared, bound_us: the event may have arrived so much earlier than t_us says.

Prompts and answers are not in here, nor is any key.
"""
