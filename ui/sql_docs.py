"""docs/schema.md as the page SQL shows it: tables with their columns, and the worked questions."""

import re
from dataclasses import dataclass
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "schema.md"
NOT_FOR_READING = frozenset({"kept_answers"})
_INHERITS = re.compile(r"All columns of `(\w+)`(?:, and those of `(\w+)`)?")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it means, with its unit, and what a null in it means (empty: has none)."""

    name: str
    meaning: str
    null: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view of the database, and what one row is."""

    name: str
    about: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A worked question: in words, in SQL, and what the answer looks like."""

    title: str
    asks: str
    sql: str
    answer: str


def tables(text: str) -> list[Table]:
    """Every section of schema.md that has a table of columns, in its order.

    A view has its own columns first, then those of the tables it is made of.
    """
    found: dict[str, Table] = {}
    for name, body in re.findall(r"^## (\w+)[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        rows = re.findall(r"^\| (\w+) \|(.*?)\|(.*)\|$", body, re.M)
        columns = [Column(n, plain(meaning), plain(null)) for n, meaning, null in rows]
        if not columns or columns[0].name != "column" or name in NOT_FOR_READING:
            continue
        found[name] = Table(
            name, plain(body.split("\n|")[0]), _with_inherited(body, columns, found)
        )
    return list(found.values())


def _with_inherited(
    body: str, columns: list[Column], found: dict[str, Table]
) -> tuple[Column, ...]:
    inherits = _INHERITS.search(body)
    bases = [found[name] for name in filter(None, inherits.groups() if inherits else ())]
    # "of request_gaps" says nothing that the table's own row does not say better.
    own = [c for c in columns[1:] if not any(c.meaning == f"of {base.name}" for base in bases)]
    named = {column.name: column for column in own}
    for base in bases:
        named |= {c.name: c for c in base.columns if c.name not in named}
    return tuple(named.values())


def questions(text: str) -> list[Question]:
    """The worked questions, in their order; titles without their number."""
    parts = re.findall(
        r"^### \d+\. (.*?)\n(.*?)```sql\n(.*?)\n```\n(.*?)(?=^##|\Z)", text, re.M | re.S
    )
    return [Question(plain(t), plain(asks), sql, plain(answer)) for t, asks, sql, answer in parts]


def plain(text: str) -> str:
    """Markdown of ours as one line of plain text."""
    return " ".join(_LINK.sub(r"\1", text).replace("`", "").replace("**", "").split())
