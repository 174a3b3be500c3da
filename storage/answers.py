"""What every query needs: a run's number, and a result as an Arrow table with plain types."""

from typing import Any

import duckdb
import orjson
import pyarrow as pa
from pyarrow import json

from storage.protocol import Mistake


class UnknownRunError(Mistake):
    """No run of that uid is in the tables (yet)."""

    def __init__(self, run: str) -> None:
        super().__init__(f"There is no run {run!r} in this data folder.")
        self.run = run


def frame(cursor: duckdb.DuckDBPyConnection, sql: str, **params: Any) -> pa.Table:
    """The result of one SELECT; `$name` in the SQL stands for the parameter of that name."""
    return cursor.sql(sql, params=params).to_arrow_table()


def one_row(values: dict[str, Any]) -> pa.Table:
    """A row that comes from no table.

    Not pa.Table.from_pylist: that imports pandas, 0.4 s and 60 MB in the store process.
    """
    return json.read_json(pa.BufferReader(orjson.dumps(values)))


def run_id_of(cursor: duckdb.DuckDBPyConnection, run: str) -> int:
    """The number of a run within this file; raises UnknownRunError."""
    found = cursor.execute(
        "SELECT run_id FROM runs WHERE run_uid = try_cast($uid AS UUID)", {"uid": run}
    ).fetchall()
    if not found:
        raise UnknownRunError(run)
    return int(found[0][0])
