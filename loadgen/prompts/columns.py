"""Which column of a file holds the prompt, and which the length of the answer.  Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from loadgen.text_lines import FileTrouble

# The first of these groups of which the file has one column alone decides.
PROMPTS: tuple[tuple[str, ...], ...] = (
    ("prompt", "messages"),
    ("text", "input", "question", "query", "instruction", "content"),
)
OUTPUTS = (
    "output_tokens",
    "max_tokens",
    "output_length",
    "output_len",
    "completion_tokens",
    "response_tokens",
)


def prompt_column(where: str, row: dict[str, Any], asked: str | None) -> str:
    """The column named by the plan, or the only one that can be meant; raises FileTrouble."""
    if asked is not None:
        if asked not in row:
            raise FileTrouble(f"{where} has no column {asked!r}; it has {_listed(row)}.")
        return asked
    for group in PROMPTS:
        found = _named(row, group)
        if len(found) == 1:
            return found[0]
        if found:
            raise FileTrouble(
                f"{where} has the columns {_listed(row)}, of which {' and '.join(found)} may be "
                "the prompt; name one as workload.file.prompt_column."
            )
    texts = [name for name, value in row.items() if isinstance(value, str)]
    if len(texts) == 1 and len(row) == 1:
        return texts[0]
    raise FileTrouble(
        f"{where} has the columns {_listed(row)}; name the one with the prompt as "
        "workload.file.prompt_column."
    )


def output_column(where: str, row: dict[str, Any], asked: str | None) -> str | None:
    """The column with the answer's length, or its text; None if there is none by a known name."""
    if asked is not None:
        if asked not in row:
            raise FileTrouble(f"{where} has no column {asked!r}; it has {_listed(row)}.")
        return asked
    found = _named(row, OUTPUTS)
    if len(found) > 1:
        raise FileTrouble(
            f"{where} has the columns {' and '.join(found)}; name the one with the answer's length "
            "as workload.file.output_column."
        )
    return found[0] if found else None


def _named(row: dict[str, Any], names: Sequence[str]) -> list[str]:
    return [column for column in row if column.strip().lower() in names]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
