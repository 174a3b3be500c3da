"""The schema's version and the way from each older one to it.

A new file gets schema.sql, which is always the newest version.  A change of schema.sql adds one to
SCHEMA_VERSION and one entry here, whose SQL turns the version before into it.
"""

from importlib.resources import files

import duckdb

from storage.protocol import StoreError

SCHEMA_VERSION = 4
# Version reached -> SQL that leads there from the one before.
MIGRATIONS: dict[int, str] = {
    2: "ALTER TABLE hist DROP COLUMN t10",  # nobody asked for ten seconds of a histogram
    3: """
        ALTER TABLE requests ADD COLUMN form VARCHAR;
        ALTER TABLE requests ADD COLUMN whole_us BIGINT;
        ALTER TABLE requests ADD COLUMN coding VARCHAR;
        ALTER TABLE requests ADD COLUMN retry_after_s DOUBLE;
        ALTER TABLE requests ADD COLUMN server_request_id VARCHAR;
        ALTER TABLE requests ADD COLUMN server_queue_us BIGINT;
        ALTER TABLE requests ADD COLUMN server_prefill_us BIGINT;
        ALTER TABLE requests ADD COLUMN server_decode_us BIGINT;
        ALTER TABLE requests ADD COLUMN tokenizer_tokens INTEGER;
        ALTER TABLE requests ADD COLUMN n_choices INTEGER;
        ALTER TABLE pulses ADD COLUMN connects INTEGER;
        ALTER TABLE pulses ADD COLUMN connect_p50_us BIGINT;
        ALTER TABLE pulses ADD COLUMN rtt_p50_us BIGINT;
        ALTER TABLE pulses ADD COLUMN dispatch_lag_p99_us BIGINT;
        ALTER TABLE runs ADD COLUMN self_test VARCHAR;
        ALTER TABLE runs ADD COLUMN dropped_fields VARCHAR;
        ALTER TABLE runs ADD COLUMN http VARCHAR;
        ALTER TABLE runs ADD COLUMN insecure BOOLEAN;
        ALTER TABLE runs ADD COLUMN proxy VARCHAR;
        ALTER TABLE runs ADD COLUMN notes VARCHAR;
        DROP VIEW request_times;
    """,  # whole answers, compression, what servers tell about themselves, the self-test
    4: """
        ALTER TABLE requests ADD COLUMN traffic_class VARCHAR;
        ALTER TABLE requests ADD COLUMN target VARCHAR;
        ALTER TABLE requests ADD COLUMN conversation INTEGER;
        ALTER TABLE requests ADD COLUMN turn INTEGER;
        ALTER TABLE requests ADD COLUMN prefix_group INTEGER;
        ALTER TABLE requests ADD COLUMN prompt_no INTEGER;
        ALTER TABLE stages ADD COLUMN load VARCHAR;
        ALTER TABLE stages ADD COLUMN asked INTEGER;
        ALTER TABLE stages ADD COLUMN why VARCHAR;
        ALTER TABLE runs ADD COLUMN facts VARCHAR;
        ALTER TABLE hist ADD COLUMN traffic_class VARCHAR;
        ALTER TABLE tok_sec ADD COLUMN traffic_class VARCHAR;
        ALTER TABLE summary ADD COLUMN traffic_class VARCHAR;
        DROP VIEW IF EXISTS request_times;
    """,  # classes of traffic, conversations, levels that the plan does not list
}


def bring_up_to_date(
    con: duckdb.DuckDBPyConnection,
    target: int = SCHEMA_VERSION,
    steps: dict[int, str] = MIGRATIONS,
) -> int:
    """Create or migrate the tables, each step in one transaction; returns the version found.

    0 is a new file.  Raises StoreError for a file of a newer Headway, which stays untouched.
    """
    found = version_of(con)
    if found > target:
        raise StoreError(
            f"The database was written by a newer Headway (schema {found}, this one knows "
            f"{target}); start that one, or set HEADWAY_DATA to another folder."
        )
    if found == 0:
        _step(con, schema_sql(), target)
    else:
        for version in range(found + 1, target + 1):
            views = ";" + _sql("views.sql") if version == target else ""
            _step(con, steps[version] + views, version)
    return found


def schema_sql() -> str:
    """The SQL that makes all tables and views of the newest version."""
    return _sql("schema.sql") + _sql("views.sql")


def version_of(con: duckdb.DuckDBPyConnection) -> int:
    """The schema version of an open database; 0 if it has no tables yet."""
    tables = con.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta'")
    if not _one(tables):
        return 0
    return int(_one(con.execute("SELECT v FROM meta WHERE k = 'schema_version'")))


def _step(con: duckdb.DuckDBPyConnection, sql: str, version: int) -> None:
    con.begin()
    try:
        con.execute(sql)
        con.execute(
            "INSERT OR REPLACE INTO meta VALUES ('schema_version', $v)", {"v": str(version)}
        )
        con.commit()
    except BaseException:
        con.rollback()
        raise


def _one(result: duckdb.DuckDBPyConnection) -> int:
    return result.fetchall()[0][0]


def _sql(name: str) -> str:
    return files("storage").joinpath(name).read_text(encoding="utf-8")
