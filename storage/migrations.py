"""The schema's version and the way from each older one to it.

A new file gets schema.sql, which is always the newest version.  A change of schema.sql adds one to
SCHEMA_VERSION and one entry here, whose SQL turns the version before into it.
"""

from importlib.resources import files

import duckdb

from storage.protocol import StoreError

SCHEMA_VERSION = 5
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
    5: """
        ALTER TABLE runs ADD COLUMN source VARCHAR;
        ALTER TABLE runs ADD COLUMN raw_dropped_epoch_ns BIGINT;
        ALTER TABLE hist ADD COLUMN sec INTEGER;
        ALTER TABLE tok_sec ADD COLUMN shared BIGINT;
        ALTER TABLE tok_sec ADD COLUMN missing BIGINT;
        ALTER TABLE tok_sec ADD COLUMN timely_gaps BIGINT;
        ALTER TABLE tok_sec ADD COLUMN together BIGINT;
        ALTER TABLE tok_sec ADD COLUMN bound_max_us INTEGER;
        CREATE TABLE doubt_sec (
            run_id INTEGER NOT NULL,
            worker INTEGER NOT NULL,
            sec INTEGER NOT NULL,
            events BIGINT NOT NULL,
            shared BIGINT NOT NULL,
            missing BIGINT NOT NULL,
            bound_p99_us INTEGER,
            bound_max_us INTEGER
        );
        CREATE TABLE request_gaps (
            run_id INTEGER NOT NULL,
            request_id INTEGER NOT NULL,
            n_gaps INTEGER NOT NULL,
            longest_gap_us INTEGER NOT NULL,
            gap_mean_us FLOAT NOT NULL,
            gap_sd_us FLOAT NOT NULL,
            gap_p25_us FLOAT NOT NULL,
            gap_p50_us FLOAT NOT NULL,
            gap_p75_us FLOAT NOT NULL,
            gap_p95_us FLOAT NOT NULL,
            stalls_100 INTEGER NOT NULL,
            stalls_250 INTEGER NOT NULL,
            stalls_500 INTEGER NOT NULL,
            stalls_1000 INTEGER NOT NULL,
            stalled_100_us BIGINT NOT NULL,
            stalled_250_us BIGINT NOT NULL,
            stalled_500_us BIGINT NOT NULL,
            stalled_1000_us BIGINT NOT NULL,
            paused_us BIGINT NOT NULL,
            is_told BOOLEAN NOT NULL
        );
        CREATE TABLE windows (
            run_id INTEGER NOT NULL,
            stage INTEGER NOT NULL,
            w0_us BIGINT NOT NULL,
            w1_us BIGINT NOT NULL
        );
        CREATE TABLE kept_answers (
            run_id INTEGER NOT NULL,
            question VARCHAR NOT NULL,
            answer BLOB NOT NULL
        );
        UPDATE runs SET is_final = false WHERE is_final;
        DROP VIEW IF EXISTS request_times;
    """,  # summaries by second and by request, windows, imported runs, raw events that may go
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
