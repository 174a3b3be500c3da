"""One level's window: quantiles of gaps, tokens, how far arrivals may be trusted.

Windows are [w0_us, w1_us) on the run's time line.  Exact from token events; of a final run's level
with too many of them, or where they were dropped, from summaries (storage/summarised.py): then a
window is the seconds that begin within it, and times are within 1 %, which the column `within`
tells.  exact=True reads the events all the same.
"""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from storage import window_sql as sql
from storage.answers import frame, run_id_of
from storage.summarised import is_final, is_summarised

Cursor = duckdb.DuckDBPyConnection


def gap_quantiles(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor,
    run: str,
    stage: int,
    w0_us: int,
    w1_us: int,
    *,
    qs: Sequence[float],
    traffic: str | None = None,
    exact: bool = False,
) -> pa.Table:
    """Quantiles of chunk gap and per-token ITL over complete requests asked in the window.

    A request counts where it was due (else sent), whenever it ended; warm-up never.
    metric (gap, itl), q (0..1), value_us, n (gaps; for itl tokens), mean_us, undefined (for itl:
    gaps of requests whose token counts are unknown), within (0: exact).  value_us and mean_us are
    null if n is 0.
    gap: linear between neighbours (numpy's default).  itl: the smallest gap / tokens that at least
    q of all tokens do not exceed (inverse distribution, weighted by tokens).
    """
    if not qs or not all(0 <= q <= 1 for q in qs):
        raise ValueError(f"qs is {list(qs)}; expected probabilities from 0 to 1")
    run_id = run_id_of(cursor, run)
    if is_summarised(cursor, run_id, int(stage), exact):
        question = sql.GAPS_FROM_HIST
    else:
        question = sql.GAPS_OF_FINAL if is_final(cursor, run_id) else sql.GAPS_OF_LIVE
    return frame(
        cursor,
        question.replace("$qs", f"{[float(q) for q in qs]}::DOUBLE[]"),  # literals only
        run_id=run_id,
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


def window_tokens(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor,
    run: str,
    stage: int,
    w0_us: int,
    w1_us: int,
    *,
    traffic: str | None = None,
    exact: bool = False,
) -> pa.Table:
    """What arrived within the window, of requests of every outcome, ended or not: one row.

    tokens (sum of known counts), events, unknown (events whose count nobody told: not in tokens).
    """
    run_id = run_id_of(cursor, run)
    from_seconds = is_summarised(cursor, run_id, int(stage), exact)
    return frame(
        cursor,
        sql.TOKENS_FROM_SECONDS if from_seconds else sql.TOKENS_OF_EVENTS,
        run_id=run_id,
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


def stamp_bounds(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int, *, exact: bool = False
) -> pa.Table:
    """How far arrivals within the window may be trusted: one row, µs.

    n_events, n_shared, n_missing (no kernel stamp), bound_p99_us (over all arrivals, 0 for an
    arrival that shared no read), bound_shared_p99_us (over shared ones), bound_max_us,
    lag_p50_us, lag_p99_us (read minus kernel stamp).  Quantiles are null where nothing is.
    n_timely_gaps: gaps before arrivals that were read within 1 ms; n_together: those of them below
    50 µs, which the endpoint or something on the way delivered in one piece.  within (0: exact).
    """
    run_id = run_id_of(cursor, run)
    from_hist = is_summarised(cursor, run_id, int(stage), exact)
    return frame(
        cursor,
        sql.BOUNDS_FROM_HIST if from_hist else sql.BOUNDS_OF_EVENTS,
        run_id=run_id,
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
    )
