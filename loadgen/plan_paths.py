"""The files that a plan names: authorities, tokenizers, prompts, lengths, loads, traces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from loadgen.plan import Plan, parse

FIELDS = ("ca_file", "tokenizer", "file", "path")
AS_THEY_ARE = "extra_body"  # what is in there is the endpoint's matter


class NamedFile(NamedTuple):
    """holder[field] names a file; where: the field as sentences name it."""

    holder: dict[str, Any]
    field: str
    where: str

    @property
    def path(self) -> Path:
        """`~` is the user's home."""
        return Path(self.holder[self.field]).expanduser()


def with_whole_paths(plan: Plan) -> Plan:
    """The plan with its files named from the root: the run's processes work in another folder.

    A tokenizer that is no file here is a hub name and stays as it is.
    """
    raw = plan.model_dump(mode="json")
    found = [one for one in _named("", raw) if one.field != "tokenizer" or one.path.exists()]
    for one in found:
        one.holder[one.field] = str(one.path.absolute())
    return parse(raw) if found else plan


def missing_files(plan: Plan) -> list[str]:
    """A sentence for each file that is not there; of tokenizers nobody knows without the hub."""
    return [
        f"{one.where} is {one.holder[one.field]!r}; there is no such file."
        for one in _named("", plan.model_dump(mode="json"))
        if one.field != "tokenizer" and not one.path.is_file()
    ]


def _named(where: str, value: Any) -> Iterator[NamedFile]:
    if isinstance(value, list):
        for i, item in enumerate(cast("list[Any]", value)):
            yield from _named(f"{where}[{i}]", item)
    if not isinstance(value, dict):
        return
    holder = cast("dict[str, Any]", value)
    for field, inner in holder.items():
        here = f"{where}.{field}" if where else field
        if field in FIELDS and isinstance(inner, str):
            yield NamedFile(holder, field, here)
        elif field != AS_THEY_ARE:
            yield from _named(here, inner)
