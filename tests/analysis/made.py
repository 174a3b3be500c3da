"""Made-up runs for the analysis tests: rows by hand, asked through the store's own SQL."""

import json
from typing import Any

import duckdb
import pandas as pd

from loadgen.plan import Plan, parse
from storage.finalise import finalise
from storage.migrations import schema_sql
from storage.queries import QUERIES
from storage.records import RequestRow

UID = "0190a0c0-0000-7000-8000-000000000001"
SECOND = 1_000_000


def row(request_id: int, send_us: int, ttft_us: int = 100_000, **changes: Any) -> dict[str, Any]:
    """A complete answer of ten one-token chunks 20 ms apart; a failure has no tokens at all."""
    failed = changes.get("outcome", "complete") != "complete"
    first, last = send_us + ttft_us, send_us + ttft_us + 9 * 20_000
    values: dict[str, Any] = {
        "request_id": request_id,
        "x_request_id": f"x-{request_id}",
        "worker": 0,
        "stage": 0,
        "phase": "measure",
        "outcome": "complete",
        "dispatched_us": send_us,
        "send_us": send_us,
        "first_token_us": None if failed else first,
        "first_visible_us": None if failed else first,
        "last_token_us": None if failed else last,
        "end_us": last,
        "output_tokens": None if failed else 10,
        "token_source": None if failed else "usage",
        "n_chunks": 0 if failed else 10,
    }
    return RequestRow(**(values | changes)).to_dict()


def never_sent(request_id: int, dispatched_us: int, **changes: Any) -> dict[str, Any]:
    """An arrival that max_in_flight kept from being sent."""
    return row(request_id, dispatched_us, outcome="not_sent", **changes) | {"send_us": None}


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Requests as the store hands them out: nullable integers, text, pd.NA."""
    columns = list(RequestRow.__dataclass_fields__)
    return pd.DataFrame(rows, columns=pd.Index(columns)).convert_dtypes()


def back_to_back(n: int, stage: int = 0, begin_us: int = 0, **changes: Any) -> list[dict[str, Any]]:
    """n answers of one stream, each sent as the one before has ended (280 ms)."""
    first = 1000 * stage
    return [row(first + i, begin_us + 280_000 * i, stage=stage, **changes) for i in range(n)]


def stage(
    index: int, name: str, begin_us: int, end_us: int, kind: str = "closed"
) -> dict[str, Any]:
    return {
        "stage": index,
        "name": name,
        "kind": kind,
        "begin_us": begin_us,
        "issue_end_us": end_us - 280_000,
        "end_us": end_us,
    }


def plan(**changes: Any) -> Plan:
    return parse(
        {
            "name": "demo",
            "target": {"url": "sim://null", "model": "m"},
            "stages": [{"kind": "closed", "concurrency": 1, "requests": 10}],
        }
        | changes
    )


def events_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Ten events per answered request, 20 ms apart, one token each, 50 µs of read lag."""
    events = [
        {
            "request_id": r["request_id"],
            "seq": k,
            "t_us": r["first_token_us"] + 20_000 * k,
            "gap_us": 20_000 if k else None,
            "n_tokens": None,
            "kind": "content",
            "lag_us": 50,
            "shared": False,
            "bound_us": 0,
        }
        for r in rows
        if r["first_token_us"] is not None
        for k in range(10)
    ]
    return pd.DataFrame(events)


class Made:
    """A finished run in a database of its own; `ask` is what the store's client offers."""

    def __init__(
        self,
        rows: list[dict[str, Any]],
        stages: list[dict[str, Any]],
        made_from: Plan | None = None,
        stamps: str | None = "kernel",
        facts: dict[str, Any] | None = None,
        source: str | None = None,
    ) -> None:
        self.cursor = duckdb.connect()
        self.cursor.execute(schema_sql())
        of = made_from or plan()
        self._insert(
            "runs",
            pd.DataFrame(
                [
                    {
                        "run_id": 1,
                        "run_uid": UID,
                        "name": of.name,
                        "state": "finished",
                        "created_epoch_ns": 1_790_000_000 * 10**9,
                        "epoch_ns": 1_790_000_000 * 10**9,
                        "plan": of.to_json().decode(),
                        "plan_sha256": of.sha256(),
                        "n_stages": len(stages),
                        "n_workers": 1,
                        "stamps": stamps,
                        "facts": json.dumps(facts) if facts else None,
                        "source": source,
                    }
                ]
            ),
            run_id=False,
        )
        self._insert("stages", pd.DataFrame(stages))
        self._insert("requests", pd.DataFrame(rows).assign(other_events="{}"))
        self._insert("token_events", events_of(rows))
        finalise(self.cursor, 1)

    def refill(self, rows: list[dict[str, Any]], gaps: list[dict[str, Any]]) -> None:
        """Other requests instead of those; `gaps` are their rows of request_gaps.  No events."""
        for table in ("requests", "request_gaps", "token_events"):
            self.cursor.execute(f"DELETE FROM {table}")
        columns = pd.Index(list(RequestRow.__dataclass_fields__))
        made = pd.DataFrame(rows, columns=columns).convert_dtypes().assign(other_events="{}")
        self._insert("requests", made)
        self._insert("request_gaps", pd.DataFrame(gaps))

    def fill_events(
        self, rows: list[dict[str, Any]], events: list[tuple[int, list[tuple[int, int | None]]]]
    ) -> None:
        """Other requests with these events (time µs, tokens told), summed up as at a run's end."""
        self.refill(rows, [])
        made = [
            {
                "request_id": request_id,
                "seq": k,
                "t_us": t_us,
                "gap_us": t_us - arrivals[k - 1][0] if k else None,
                "n_tokens": tokens,
                "kind": "content",
                "lag_us": 50,
                "shared": False,
                "bound_us": 0,
            }
            for request_id, arrivals in events
            for k, (t_us, tokens) in enumerate(arrivals)
        ]
        self._insert("token_events", pd.DataFrame(made).convert_dtypes())
        finalise(self.cursor, 1)

    def ask(self, name: str, /, **args: Any) -> pd.DataFrame:
        return QUERIES[name](self.cursor, **args).to_pandas()

    def _insert(self, table: str, made: pd.DataFrame, *, run_id: bool = True) -> None:
        if len(made):
            self.cursor.register("made", made.assign(run_id=1) if run_id else made)
            self.cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM made")
            self.cursor.unregister("made")
