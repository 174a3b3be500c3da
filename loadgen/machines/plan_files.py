"""The files a plan names, which its remote workers do not have: found, sent, and named anew.

Tokenizers, authorities, prompts, lengths, traces: every worker needs the very same bytes, or its
share of the schedule would be of another schedule.  So they travel; nobody copies them by hand.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE_FIELDS = frozenset({"ca_file", "tokenizer", "file", "path"})
TOKENIZER_FILE = "tokenizer.json"

Raw = dict[str, Any]


def files_of(plan: Raw) -> list[str]:
    """Whole paths of the files that a plan's plain values name, each once, in their order.

    A folder with a tokenizer stands for the tokenizer.json in it; a hub name is no file.
    """
    found = dict.fromkeys(value for _, _, value in _named(plan))
    return [path for path in found if _file(path).is_file()]


def read_from(path: str) -> Path:
    """The file that is sent for one of `files_of`."""
    return _file(path)


def with_files_at(plan: Raw, places: Mapping[str, str]) -> Raw:
    """The plan with the files of `places` (path there -> path here) named where they lie here."""
    changed = _copy(plan)
    for holder, field, value in _named(changed):
        if value in places:
            holder[field] = places[value]
    return changed


def _file(path: str) -> Path:
    here = Path(path)
    return here / TOKENIZER_FILE if here.is_dir() else here


def _named(value: Any) -> Iterator[tuple[Raw, str, str]]:
    """(table, field, path) of every field that may name a file by its whole path."""
    if isinstance(value, list):
        for item in value:
            yield from _named(item)
    if not isinstance(value, dict):
        return
    for field, inner in value.items():
        if field in FILE_FIELDS and isinstance(inner, str) and inner.startswith("/"):
            yield value, field, inner
        elif field != "extra_body":
            yield from _named(inner)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {field: _copy(inner) for field, inner in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
