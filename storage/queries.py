"""Every question the store answers: one question = one function = one SQL = one documented frame.

`storage.client.Store.ask(name, **arguments)` calls the function of that name in the store process.
Frames: whole numbers are int64, or float64 with NaN where a column has nulls; text; UTC times.
"""

from collections.abc import Callable

import pyarrow as pa

from storage import (
    queries_chunks,
    queries_clusters,
    queries_events,
    queries_health,
    queries_requests,
    queries_run,
    queries_window,
    retention,
    sql_box,
    window_actions,
)

QUERIES: dict[str, Callable[..., pa.Table]] = {
    "runs": queries_run.runs,
    "run": queries_run.run,
    "find_run": queries_run.find_run,
    "stages": queries_run.stages,
    "pulses": queries_run.pulses,
    "windows": window_actions.windows,
    "requests": queries_requests.requests,
    "outcomes": queries_requests.outcomes,
    "gap_hist": queries_events.gap_hist,
    "tokens_per_s": queries_events.tokens_per_s,
    "token_events": queries_events.token_events,
    "gap_quantiles": queries_window.gap_quantiles,
    "gap_clusters": queries_clusters.gap_clusters,
    "gap_seconds": queries_clusters.gap_seconds,
    "window_tokens": queries_window.window_tokens,
    "stamp_bounds": queries_window.stamp_bounds,
    "doubt_per_s": queries_health.doubt_per_s,
    "level_arrivals": queries_chunks.level_arrivals,
    "raw_sizes": retention.raw_sizes,
    "level_other_events": queries_chunks.level_other_events,
    "sql": sql_box.sql,
}
