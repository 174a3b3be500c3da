"""A level in one dialect as plain text for a terminal."""

import textwrap
from typing import Any

from analysis.dialects.line import main_lines
from analysis.dialects.sheet import fig

Json = dict[str, Any]
WIDTH = 100


def text(shown: Json) -> str:
    """Every level as the tool would print it: means, medians and p99 of run_in_dialect()."""
    head = [
        f"As {shown['title']} would print it (read: {shown['versions']}).",
        f"Its percentiles: {shown['rule']}. {_answers(shown['levels'])}.",
    ]
    blocks = ["\n".join(head), *(_level(level, shown["dialect"]) for level in shown["levels"])]
    return "\n\n".join(blocks) + "\n"


def _answers(levels: list[Json]) -> str:
    """Which answers both columns are of."""
    if all(level["is_whole"] for level in levels):
        return "theirs and ours: every answer of the level"
    return "theirs: every answer of the level; ours: its window"


def _level(level: Json, name: str) -> str:
    """The table, each line with the number of its reason, and the reasons below."""
    lines = main_lines(level["lines"])
    is_source = level["source"] == name
    reasons = list(dict.fromkeys(_why(line) for line in lines if _why(line)))
    header = ["number", "unit", "theirs", *(["its report"] if is_source else []), "ours", "why"]
    rows = [header, *(_row(line, is_source, reasons) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    table = [
        "  "
        + "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    told = [_note(number, reason) for number, reason in enumerate(reasons, 1)]
    return "\n".join([f"{level['name']}: {level['sentence']}", *table, *told])


def _row(line: Json, is_source: bool, reasons: list[str]) -> list[str]:
    told = [fig(line["reported"])] if is_source else []
    why = _why(line)
    at = f"[{reasons.index(why) + 1}]" if why else ""
    return [line["name"], line["unit"], fig(line["theirs"]), *told, fig(line["ours"]), at]


def _why(line: Json) -> str:
    if line.get("is_same") is not False:
        return line["reason"]
    told = ("DIFFERS FROM ITS OWN REPORT.", line["differs"], line["reason"])
    return " ".join(filter(None, told))


def _note(number: int, reason: str) -> str:
    first = f"  [{number}] "
    return textwrap.fill(reason, WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
