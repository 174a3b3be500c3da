"""The store without its process: the same questions and actions, asked directly."""

from typing import Any

import orjson

from storage.actions import ACTIONS
from storage.client import _frame
from storage.owner import Owner
from storage.queries import QUERIES
from tests.storage.made_up_runs import RunFolder, Stream, Tables


class InProcess:
    """What storage.client.Store offers, over `tables`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def ask_arrow(self, name: str, /, **args: Any) -> Any:
        with self.tables.database.cursor() as cursor:
            return QUERIES[name](cursor, **args)

    def ask(self, name: str, /, **args: Any) -> Any:
        return _frame(self.ask_arrow(name, **args))

    def do(self, name: str, /, **args: Any) -> Any:
        assert orjson.loads(orjson.dumps(args)) == args  # it would travel as JSON
        owner = Owner(self.tables.database, self.tables.data)
        return _frame(ACTIONS[name](owner, **args))


def measured_run(tables: Tables, name: str = "demo") -> str:
    """A final run of 12 requests with every kind of null; its run_uid."""
    run = RunFolder(tables.data, name)
    run.stage(1, 4, 10_500_000, 20_000_000, 20_500_000)
    streams = [Stream(i, 1_000_000 + i * 10_000, told=(2,) * 10) for i in range(6)]
    streams += [Stream(6 + i, 11_000_000 + i * 10_000, stage=1) for i in range(5)]
    failed = Stream(11, stage=1, outcome="http_error", detail='503 "busy", said\nthe server; =1+1')
    for column in ("first_token_us", "last_token_us", "output_tokens", "token_source"):
        setattr(failed.request, column, None)
    failed.tokens = failed.tokens[:0]
    run.columns(0, [*streams, failed])
    run.end()
    while tables.turn():
        pass
    return run.uid


def rows_of_run(tables: Tables, uid: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the run in every table, but what is local to one file."""
    local, arrival = ("kept_answers", "seg_ledger"), ", created_epoch_ns"
    names = tables.sql(
        "SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id' "
        "AND table_name IN (SELECT table_name FROM duckdb_tables())"
    )
    return {
        name: sorted(
            tables.sql(
                f"SELECT * EXCLUDE (run_id{arrival if name == 'runs' else ''}) FROM {name} "
                f"WHERE run_id = (SELECT run_id FROM runs WHERE run_uid = '{uid}')"
            ),
            key=repr,
        )
        for (name,) in names
        if name not in local
    }
