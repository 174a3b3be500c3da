"""An explanation as lines for a terminal; takes the dict."""

import unicodedata
from typing import Any

from loadgen.explain_words import ms

Json = dict[str, Any]
HEAD, TAIL = 12, 8
"""Events shown at the beginning and at the end of a long answer."""
TEXT_CELLS = 48
OPENING = {"dns_ms": "name", "connect_ms": "connect", "tls_ms": "TLS"}
PHASES = {
    "first_byte_ms": "first byte",
    "headers_ms": "headers",
    "first_event_ms": "first event",
    "first_token_ms": "first token",
    "first_visible_ms": "first visible",
    "last_token_ms": "last token",
    "whole_ms": "whole answer",
    "end_ms": "end",
}
COLUMNS = ("after ms", "gap", "read", "bytes", "kind", "tokens", "lag ms", "")


def phases(said: Json) -> list[str]:
    """What happened when, and how much of it went into opening the connection."""
    after, opening = _told(said, PHASES), _told(said, OPENING)
    within = [f"of it, opening the connection: {opening}"] if opening else []
    return [f"after the send: {after}", *within]


def _told(said: Json, names: dict[str, str]) -> str:
    found = {name: said["phases"][key] for key, name in names.items()}
    return " · ".join(f"{name} {ms(at)}" for name, at in found.items() if at is not None)


def counts(said: Json) -> list[str]:
    """Kinds, reads and bytes; ids and headers worth knowing."""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in said["kinds"].items()) or "no event"
    lines = [f"{kinds}; {said['reads']:,} reads, {said['bytes']:,} bytes"]
    server = [
        f"{name} {ms(value)}" for name, value in said["server_ms"].items() if value is not None
    ]
    if server:
        lines.append(f"as the server times itself: {' · '.join(server)}")
    if said["headers"]:
        lines.append(" · ".join(f"{name}: {value}" for name, value in said["headers"].items()))
    ids = [f"{name} {value}" for name, value in said["ids"].items() if value]
    return [*lines, f"ids: {' · '.join(ids)}"] if ids else lines


def events(said: Json, is_all: bool = False) -> list[str]:
    """One line for each event; of a long answer the first and the last ones, unless is_all."""
    rows: list[Json] = said["events"]
    if not rows:
        return []
    hidden = 0 if is_all else max(0, len(rows) - HEAD - TAIL)
    if hidden <= 1:
        shown = [_cells(row) for row in rows]
    else:
        middle = (f"… {hidden:,} more (--events shows them)",)
        shown = [*map(_cells, rows[:HEAD]), middle, *map(_cells, rows[-TAIL:])]
    table = [COLUMNS, *shown]
    widths = [max(len(row[i]) for row in table if len(row) > 1) for i in range(len(COLUMNS) - 1)]
    return [_line(row, widths) for row in table]


def _cells(row: Json) -> tuple[str, ...]:
    text = _cut(row["text"])
    said = f"“{text}”" if text and row["kind"] != "empty" else text
    told = [said, row["note"], "shared arrival" if row["shared"] else ""]
    if row["choice"]:
        told.insert(0, f"choice {row['choice']}")
    return (
        f"{row['ms']:,.2f}",
        "" if row["gap_ms"] is None else f"{row['gap_ms']:,.2f}",
        str(row["read"]),
        f"{row['bytes']:,}",
        row["kind"],
        "" if row["tokens"] is None else str(row["tokens"]),
        "" if row["lag_ms"] is None else f"{row['lag_ms']:.2f}",
        " · ".join(part for part in told if part),
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    if len(row) == 1:
        return f"{'':>{widths[0]}}  {row[0]}"
    cells = [
        f"{cell:<{width}}" if name == "kind" else f"{cell:>{width}}"
        for cell, width, name in zip(row, widths, COLUMNS, strict=False)
    ]
    return "  ".join([*cells, row[-1]]).rstrip()


def _cut(text: str) -> str:
    """At most TEXT_CELLS columns of a terminal; wide characters take two."""
    cells = 0
    for at, character in enumerate(text):
        cells += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if cells > TEXT_CELLS:
            return text[:at] + "…"
    return text
