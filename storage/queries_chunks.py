"""The arrivals of one load level as bare columns, for other tools' ways of counting."""

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of

Cursor = duckdb.DuckDBPyConnection


def level_arrivals(cursor: Cursor, run: str, stage: int, traffic: str | None = None) -> pa.Table:
    """Token events of a level's requests, by request_id and seq: request_id, t_us, n_tokens.

    n_tokens is null where nobody told it.  traffic: of one class only.  Requests that have not
    ended are left out.  16 bytes an event: ask for levels of a few million events at most.
    """
    return frame(
        cursor,
        """
        SELECT request_id, t_us,
            coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END)::INTEGER AS n_tokens
        FROM (SELECT request_id, seq, t_us, n_tokens FROM token_events WHERE run_id = $run_id)
            JOIN (SELECT request_id, one_token_per_chunk FROM request_times
                WHERE run_id = $run_id AND stage = $stage AND phase <> 'preflight'
                    AND ($traffic IS NULL OR traffic_class = $traffic)) USING (request_id)
        ORDER BY request_id, seq""",
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        traffic=traffic,
    )


def level_other_events(cursor: Cursor, run: str, stage: int) -> pa.Table:
    """What answers of a level held beside tokens: request_id, other_events (JSON), headers_us.

    other_events: how many events of each kind that is no token; headers_us is null where no head
    of a response came.
    """
    return frame(
        cursor,
        """
        SELECT request_id, other_events, headers_us FROM requests
        WHERE run_id = $run_id AND stage = $stage AND phase <> 'preflight' ORDER BY request_id""",
        run_id=run_id_of(cursor, run),
        stage=int(stage),
    )
