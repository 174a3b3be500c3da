"""One level of a stored run in every dialect, as one JSON value for page, command and programs."""

from dataclasses import asdict
from typing import Any

from analysis.dialects import evidence
from analysis.dialects.agreement import Agreement, compare, dialect_of, lost_in_tables
from analysis.dialects.line import Facts, Line
from analysis.dialects.per_token import per_token, sentence
from analysis.dialects.registry import DIALECTS
from analysis.levels import levels as levels_of
from analysis.reading import Reading
from storage.exchange.answers import Answers

Json = dict[str, Any]
SAME_AS_STORED = 1e-4
STORED_US = {"ms": 2e-3, "s": 2e-6, "ns": 2e3}
"""The tables hold whole µs: two of them, in the unit of a line, are no difference."""


def documents(reading: Reading, levels: list[Json], ask_arrow: evidence.AskArrow) -> list[Json]:
    """Every level as every tool would print it.  levels: of `show --json`; same order."""
    return [document(reading, at, levels[at], ask_arrow) for at in range(len(reading.stages))]


def run_in_dialect(reading: Reading, name: str, ask_arrow: evidence.AskArrow) -> Json:
    """The run as the tool `name` would print it: what `headway show --dialect NAME --json` prints.

    run (uid), dialect, title, versions, rule, levels: name, sentence, source, per_token, lines.
    """
    shown = documents(reading, levels_of(reading), ask_arrow)
    dialect = DIALECTS[name]
    return {
        "run": str(reading.run["run_uid"]),
        "dialect": name,
        "title": dialect.title,
        "versions": dialect.versions,
        "rule": dialect.rule,
        "levels": [
            {key: level[key] for key in ("name", "is_whole", "sentence", "source", "per_token")}
            | {"lines": level["dialects"][name]["lines"]}
            for level in shown
        ],
    }


def document(reading: Reading, at: int, level: Json, ask_arrow: evidence.AskArrow) -> Json:
    """Level number `at` of the run.

    name, is_whole (ours are of the whole level too), sentence, per_token (list of PerToken),
    source (the dialect of the tool that measured; null for a run of ours), dialects: name -> title,
    versions, rule, lines.  A line is Line's fields with `reported`, `is_same` and `differs` (why
    not) where the tool told its own number.
    """
    stage = reading.stages[at]
    answers = evidence.answers_of(reading, stage, ask_arrow)
    facts = evidence.facts_of(reading, stage, level)
    imported = evidence.imported_of(reading)
    source = dialect_of(imported["tool"], imported.get("version")) if imported else None
    reported = (imported.get("reported") or [{}])[int(stage.row["stage"])] if imported else {}
    of = {"name": level["name"], "is_whole": stage.window.by == "whole", "source": source}
    return of | of_answers(answers, facts, source, reported)


def of_answers(
    answers: Answers, facts: Facts, source: str | None, reported: dict[str, float]
) -> Json:
    """The same of columns that are at hand."""
    lines = {name: dialect.numbers(answers, facts) for name, dialect in DIALECTS.items()}
    rows = per_token(lines, facts)
    told = {name: [asdict(line) for line in found] for name, found in lines.items()}
    if source is not None:
        told[source] = _with_reported(source, lines[source], reported)
    return {
        "sentence": sentence(rows),
        "per_token": [asdict(row) for row in rows],
        "dialects": {
            name: {
                "title": dialect.title,
                "versions": dialect.versions,
                "rule": dialect.rule,
                "lines": told[name],
            }
            for name, dialect in DIALECTS.items()
        },
    }


def _with_reported(source: str, lines: list[Line], reported: dict[str, float]) -> list[Json]:
    """The lines with what the tool itself told.  reported: by the file's own names."""
    told = {found.our_name: found for found in compare(source, reported, lines)}
    shown: list[Json] = []
    for line in lines:
        found = told.get(line.name)
        same = None if found is None else _is_same(line, found)
        differs = lost_in_tables(source, line.name) if same is False else ""
        more = {"reported": found.reported if found else None, "is_same": same, "differs": differs}
        shown.append(asdict(line) | more)
    return shown


def _is_same(line: Line, found: Agreement) -> bool | None:
    """Whether two numbers are one but for the tables' whole µs; None where that says nothing.

    A mode is one of many values that came equally often: rounding picks another.
    """
    if line.theirs is None or line.stat == "mode":
        return None
    room = max(STORED_US.get(line.unit, 0.0), SAME_AS_STORED * abs(found.reported))
    return found.is_same or abs(line.theirs - found.reported) <= room
