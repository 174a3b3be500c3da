"""The schema's version and the way from each older one to it.

A new file gets schema.sql, which is always the newest version.  A change of schema.sql adds one to
SCHEMA_VERSION and one entry here, whose SQL turns the version before into it.
"""

from importlib.resources import files

import duckdb

from storage.protocol import StoreError

SCHEMA_VERSION = 2
# Version reached -> SQL that leads there from the one before.
MIGRATIONS: dict[int, str] = {
    2: "ALTER TABLE hist DROP COLUMN t10",  # nobody asked for ten seconds of a histogram
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
            _step(con, steps[version], version)
    return found


def schema_sql() -> str:
    """The SQL that makes all tables of the newest version."""
    return files("storage").joinpath("schema.sql").read_text(encoding="utf-8")


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
