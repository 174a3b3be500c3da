"""May this SQL be run for a reader?  Decided on DuckDB's own syntax tree, never on the text.

Whatever the tree holds that is not listed here is refused, so a new DuckDB can only refuse more.
Behind this stand two walls: the transaction is read only, and the database has no way to files
(opening.py).
"""

import re
from collections.abc import Iterator
from typing import Any, cast

import duckdb
import orjson

from storage.protocol import LONGEST_SQL, StoreError, too_long_sql
from storage.sql_functions import TABLE_FUNCTIONS, TOO_LARGE, allowed_functions, words

HIDDEN_TABLES = frozenset({"kept_answers"})
"""Tables of ours that are not for reading."""
_IDENTIFIER = re.compile(r"\w+")
_CLASSES = words(
    "BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT DEFAULT FUNCTION LAMBDA "
    "LAMBDA_REF OPERATOR POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW"
)
_TYPES = words(
    "SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE "
    "BASE_TABLE EMPTY EXPRESSION_LIST JOIN PIVOT SHOW_REF SUBQUERY TABLE_FUNCTION "
    "DISTINCT_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER "
    "ASCENDING DESCENDING ORDER_DEFAULT"
)
_LISTS_OF_TABLES = ("tables", "__show_tables_expanded")
Node = dict[str, Any]


def checked(cursor: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """The one harmless statement that `text` is; raises StoreError with a sentence otherwise."""
    if len(text) > LONGEST_SQL:
        raise too_long_sql()
    try:
        text = _without_end(text)
        statements = cursor.extract_statements(text)
        told = cursor.execute("SELECT json_serialize_sql($t::VARCHAR)", {"t": text}).fetchall()
        tree = orjson.loads(told[0][0])
    except orjson.JSONDecodeError:
        raise StoreError("This SQL is nested too deeply; ask in smaller pieces.") from None
    if not statements:
        raise StoreError("There is nothing to run: type a SELECT.")
    if len(statements) > 1:
        raise StoreError(f"One statement at a time, please: this is {len(statements)}.")
    kind = statements[0].type.name
    if kind == "MULTI":
        raise StoreError("This PIVOT takes several statements; say ON column IN (values) in it.")
    if kind != "SELECT":
        raise StoreError(
            f"Only SELECT may be run here (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE), not "
            f"{_first_word(text, kind)}: the box reads, it never changes anything."
        )
    if tree["error"]:
        raise StoreError(f"The SQL box cannot look through this SQL: {tree['error_message']}")
    _check(cursor, tree["statements"])
    return statements[0]


def _without_end(text: str) -> str:
    """The text without semicolons and comments behind its last word: DuckDB wraps what is left."""
    raw = text.encode()
    cut = len(raw)
    for at, kind in reversed(duckdb.tokenize(text)):
        if kind != duckdb.token_type.comment and raw[at : at + 1] != b";":
            break
        cut = at
    return raw[:cut].decode()


def _first_word(text: str, kind: str) -> str:
    """How the statement begins; DuckDB's own kinds call TRUNCATE a DELETE."""
    raw = text.encode()
    tokens = [at for at, found in duckdb.tokenize(text) if found != duckdb.token_type.comment]
    word = _IDENTIFIER.match(raw[tokens[0] :].decode()) if tokens else None
    if word is None or word[0].upper() == "WITH":
        return kind.replace("_", " ")
    return word[0].upper()


def _catalog(cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, bool]]:
    return cursor.execute(
        "SELECT lower(table_name), NOT internal FROM duckdb_tables() UNION "
        "SELECT lower(view_name), NOT internal FROM duckdb_views()"
    ).fetchall()


def _check(cursor: duckdb.DuckDBPyConnection, tree: Any) -> None:
    nodes = list(_nodes(tree))
    catalog, functions = _catalog(cursor), allowed_functions(cursor)
    ours = frozenset(name for name, is_ours in catalog if is_ours) - HIDDEN_TABLES
    # A name that a WITH gives may be read anywhere, unless it is also the name of something else.
    given = {str(e["key"]).lower() for node in nodes for e in _given(node)}
    elsewhere = {name for name, _ in catalog}
    tables = ours | {n for n in given if _IDENTIFIER.fullmatch(n) and n not in elsewhere}
    of_tables = {id(node["function"]) for node in nodes if node.get("type") == "TABLE_FUNCTION"}
    for node in nodes:
        kind = node.get("type")
        if "class" in node:
            _check_expression(node, TABLE_FUNCTIONS if id(node) in of_tables else functions)
        elif isinstance(kind, str) and kind not in _TYPES:
            raise StoreError(f"Only reading is possible here; this SQL holds {_words(kind)}.")
        elif kind == "BASE_TABLE":
            _check_table(node, tables)
        elif kind == "SHOW_REF":
            _check_show(node)


def _check_expression(node: Node, functions: frozenset[str]) -> None:
    kind = node["class"]
    if kind == "PARAMETER":
        raise StoreError("Values cannot be filled in here: write them in place of $ and ?.")
    if kind not in _CLASSES:
        raise StoreError(f"The SQL box does not know what to make of {_words(kind)}.")
    name = str(node.get("function_name", "")).lower()
    if not name:
        return
    if len(node.get("qualified_name", {}).get("path", [name])) != 1:
        raise StoreError(f"Call {name}() by its bare name, without a schema.")
    if name in functions:
        return
    if functions is not TABLE_FUNCTIONS and name in TOO_LARGE:
        raise StoreError(
            f"{name}() may not be called here: it can make one value larger than the memory."
        )
    raise StoreError(
        f"{name}() may not be called here, or does not exist: the box computes from Headway's own "
        "tables and reaches no file, network or setting."
    )


def _check_table(node: Node, tables: frozenset[str]) -> None:
    path = [str(part).lower() for part in node["qualified_name"]["path"]]
    if path[-1] in tables and path[:-1] in ([], ["main"]):
        return
    raise StoreError(
        f"There is no table {'.'.join(path)[:80]!r} to read here; there are "
        f"{', '.join(sorted(tables))}."
    )


def _check_show(node: Node) -> None:
    # DESCRIBE and SUMMARIZE hold a query, whose own nodes are checked.
    if not node["query"] and str(node["table_name"]).strip('"') not in _LISTS_OF_TABLES:
        raise StoreError("Of SHOW, only SHOW TABLES may be run here.")


def _given(node: Node) -> list[Node]:
    return node["cte_map"]["map"] if isinstance(node.get("cte_map"), dict) else []


def _nodes(tree: Any) -> Iterator[Node]:
    """Every object of the tree; a stack, because the tree may be deep."""
    rest: list[Any] = [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            node = cast(Node, value)
            yield node
            rest.extend(node.values())
        elif isinstance(value, list):
            rest.extend(cast("list[Any]", value))


def _words(kind: str) -> str:
    words = kind.removesuffix("_NODE").replace("_", " ").lower()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
