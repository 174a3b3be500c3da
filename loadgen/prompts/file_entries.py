"""The prompts of a file in its order: JSONL, CSV or ShareGPT, told apart by their rows."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from loadgen.plan_parts import PlanError
from loadgen.plan_workload import PromptFile
from loadgen.prompts.columns import output_column, prompt_column
from loadgen.prompts.entries import BadEntry, Entry, entry_of, sharegpt_entry
from loadgen.table_rows import Row, csv_rows, line_rows, list_rows, rows
from loadgen.text_lines import FileTrouble, first_sign

MOST_NAMED = 5
"""So many bad rows are named; then reading stops."""

Note = Callable[[str, str], None]
"""Told of each row that is left out: where it stands, and why."""


def file_entries(file: PromptFile, skipped: Note) -> Iterator[Entry]:
    """Every prompt; raises PlanError for a file that cannot be used, naming up to five bad rows.

    Broken conversations of a ShareGPT file are skipped and told of: every such file has some.
    """
    path = Path(file.path).expanduser()
    try:
        found = _rows(path, file.format)
        head: list[Row] = []
        for row in found:
            head.append(row)
            if row.problem is None:
                break
        every = chain(head, found)
        if not head:
            raise FileTrouble(f"{path} holds no prompts.")
        if _is_sharegpt(file, head[-1]):
            yield from _conversations(every, skipped)
        else:
            yield from _prompts(every, file, head[-1])
    except FileTrouble as trouble:
        raise PlanError([f"workload.file: {trouble}"]) from None


def _rows(path: Path, format_: str) -> Iterator[Row]:
    if format_ == "auto":
        return rows(path)
    if format_ == "csv":
        return csv_rows(path)
    return list_rows(path) if first_sign(path) == "[" else line_rows(path)


def _is_sharegpt(file: PromptFile, row: Row) -> bool:
    if file.format == "auto" and file.prompt_column is None:
        return isinstance(row.values.get("conversations"), list)
    return file.format == "sharegpt"


def _conversations(every: Iterator[Row], skipped: Note) -> Iterator[Entry]:
    for row in every:
        try:
            if row.problem:
                raise BadEntry(row.problem)
            yield sharegpt_entry(row.values)
        except BadEntry as bad:
            skipped(row.where, str(bad))


def _prompts(every: Iterator[Row], file: PromptFile, first: Row) -> Iterator[Entry]:
    """Columns are those of the first good row; raises PlanError once five rows are bad, or at the
    end if any is."""
    problems: list[str] = []
    prompt = output = None
    if first.problem is None:
        prompt = prompt_column(first.where, first.values, file.prompt_column)
        output = output_column(first.where, first.values, file.output_column)
    for row in every:
        try:
            yield _prompt(row, prompt, output)
        except BadEntry as bad:
            problems.append(f"workload.file: {row.where} {bad}.")
            if len(problems) == MOST_NAMED:
                problems.append("workload.file: there may be more bad rows behind these.")
                break
    if problems:
        raise PlanError(problems)


def _prompt(row: Row, prompt: str | None, output: str | None) -> Entry:
    if row.problem:
        raise BadEntry(row.problem)
    if prompt not in row.values:
        raise BadEntry(f"has no {prompt!r}")
    return entry_of(row.values[prompt], row.values.get(output) if output else None)
