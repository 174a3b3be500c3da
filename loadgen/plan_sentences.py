"""A plan's mistakes as sentences that name the field."""

from typing import Any

from loadgen.plan_shapes import TAGS
from loadgen.plan_stages import KINDS

_UNION_TAGS = frozenset((*KINDS, *TAGS, "uniform", "normal", "lognormal", "exponential", "file"))
_OWN_WORDS = ("value_error", "stage_kind", "length_kind", "shape_kind")


def sentence(error: Any, tags: frozenset[str] = _UNION_TAGS) -> str:
    """One of pydantic's errors, with the place as its author wrote it: `stages[1].seconds`."""
    where = _place(error["loc"], tags)
    kind, message = error["type"], error["msg"]
    if kind == "missing":
        return f"{where} is missing."
    if kind == "extra_forbidden":
        return f"{where} is not a field of a plan; check its spelling."
    if kind in _OWN_WORDS:
        return f"{where} {message.removeprefix('Value error, ')}.".strip()
    given = error.get("input")
    shown = "" if isinstance(given, dict | list) else f" is {given!r};"
    return f"{where}{shown} {message[0].lower()}{message[1:]}."


def _place(loc: tuple[str | int, ...], tags: frozenset[str]) -> str:
    """A union's tag is no field of the file; a field of that name follows no list item or union."""
    where = ""
    for i, part in enumerate(loc):
        is_tag = part in tags and i > 0 and (isinstance(loc[i - 1], int) or loc[i - 1] in _UNIONS)
        if is_tag or str(part) in ("OwnClosed", "OwnOpen"):
            continue
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    return where


_UNIONS = frozenset(
    ("prompt_tokens", "output_tokens", "turns", "think_s", "rate_per_s", "concurrency", "load")
)
