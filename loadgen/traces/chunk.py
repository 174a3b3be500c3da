"""Some thousand rows of a file as columns, and which columns a format wants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgen.traces.trace import TraceError

CHUNK_ROWS = 8_192  # bounds what lies in memory as Python objects
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True)
class Wanted:
    """Columns by our name, each with the names it may have in the file, the preferred one first."""

    required: dict[str, tuple[str, ...]]
    optional: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows as columns by our names; `names` has the file's, `lines` each row's line, from 1.

    is_text: cells are str (CSV); otherwise JSON's values, None where a row has no such key.
    """

    path: Path
    lines: Sequence[int]
    columns: Mapping[str, Sequence[Any]]
    names: dict[str, str]
    is_text: bool

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, row: int, column: str, expected: str) -> TraceError:
        """The sentence about one cell: file, line, what was seen, what was expected."""
        cell, name = self.columns[column][row], self.names[column]
        shown = repr(cell) if not isinstance(cell, str) or not self.is_text else cell
        if len(shown) > _SHOWN_CHARS:
            shown = shown[:_SHOWN_CHARS] + "…"
        seen = f"{name} is missing" if cell is None else f"{name} is {shown.strip() or 'empty'}"
        return TraceError(f"{self.path}, line {self.lines[row]}: {seen}; expected {expected}.")


def plain(name: str) -> str:
    """A column name as compared: lower case, blanks and dashes as underscores."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def found_names(path: Path, wanted: Wanted, have: Iterable[str]) -> dict[str, str]:
    """Our name -> the file's name for each wanted column; raises TraceError if one is missing."""
    have = list(have)
    by_plain: dict[str, str] = {}
    for name in have:
        by_plain.setdefault(plain(name), name)
    found: dict[str, str] = {}
    for ours, aliases in {**wanted.required, **wanted.optional}.items():
        theirs = next((by_plain[alias] for alias in aliases if alias in by_plain), None)
        if theirs is not None:
            found[ours] = theirs
    missing = [aliases[0] for ours, aliases in wanted.required.items() if ours not in found]
    if missing:
        columns = ", ".join(map(repr, have[:20])) or "none"
        raise TraceError(
            f"{path} has no column {' and no column '.join(missing)}; its columns are {columns}."
        )
    return found
