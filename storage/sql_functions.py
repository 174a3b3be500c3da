"""Which functions a reader's own SQL may call: those that only compute.

The names come from DuckDB itself; what reads settings, files or the clock's internals, changes
something, waits, or can make a single value of gigabytes is left out by name.
"""

import duckdb


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


TABLE_FUNCTIONS = words("unnest range generate_series json_each json_tree")
_HARMLESS_VOLATILE = frozenset({"random", "uuid", "gen_random_uuid", "uuidv4", "uuidv7"})
_MACROS = ("list_", "array_", "map_contains", "json_group_", "regexp_split_", "md5_")
_MORE_MACROS = words(
    "ago date_add days_in_month fdiv geomean geometric_mean if nullif split_part wavg weighted_avg "
    "json pg_typeof"
)
_TELLS_TOO_MUCH = words(
    "current_setting getvariable getenv current_query current_connection_id txid_current "
    "in_search_path json_serialize_plan json_serialize_sql json_deserialize_sql "
    "parse_duckdb_log_message"
)
# list_resize([1], 1500000000) took 12 GB past the memory limit and could not be interrupted.
TOO_LARGE = words(
    "repeat lpad rpad format printf bar list_resize array_resize range generate_series "
    "to_base factorial bitstring"
)


def allowed_functions(cursor: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Lower-case names of the scalar, aggregate and window functions and macros that may be called.

    Asked of the database once per process: 20 ms.
    """
    if not _allowed:
        rows = cursor.execute(
            "SELECT DISTINCT lower(function_name), function_type, stability, internal "
            "FROM duckdb_functions()"
        ).fetchall()
        names = {name for name, *kind in rows if _only_computes(name, *kind)}
        _allowed.append(frozenset(names | {"unnest"}) - _TELLS_TOO_MUCH - TOO_LARGE)
    return _allowed[0]


_allowed: list[frozenset[str]] = []


def _only_computes(name: str, kind: str, stability: str | None, is_internal: bool) -> bool:
    if kind == "macro":  # ours, and of DuckDB's those that are no window into its catalog
        return not is_internal or name in _MORE_MACROS or name.startswith(_MACROS)
    if kind not in ("scalar", "aggregate", "window") or name.startswith("__"):
        return False
    return stability != "VOLATILE" or name in _HARMLESS_VOLATILE
