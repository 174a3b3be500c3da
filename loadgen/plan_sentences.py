"""A plan's mistakes as sentences that name the field."""

from typing import Any, cast

from loadgen.plan_fields import homes_of, kinds_with, meant
from loadgen.plan_parts import Part
from loadgen.plan_place import Path, path_of, shown

_OWN_WORDS = ("stage_kind", "length_kind", "shape_kind")
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a pair [second, value]",
}


def sentence(error: Any, raw: Any, top: type[Part]) -> str:
    """One of pydantic's errors.  raw: what was parsed; top: the part it was parsed as."""
    path = path_of(error, raw)
    if error["type"] == "extra_forbidden":
        return _unknown(path, error["loc"], raw, top)
    return f"{shown(path) or 'the plan'} {_fault(error)}."


def _fault(error: Any) -> str:
    kind, context, message = error["type"], error.get("ctx", {}), error["msg"]
    if kind == "missing":
        return "is missing"
    if kind == "mistake":
        return context["sentence"]
    if kind == "value_error" or kind in _OWN_WORDS:
        return message.removeprefix("Value error, ")
    if kind in ("too_short", "too_long"):
        name, at = ("min_length", "least") if kind == "too_short" else ("max_length", "most")
        return f"has {context['actual_length']} entries; expected at {at} {context[name]}"
    return f"is {_given(error['input'])}{_expected(error)}"


def _expected(error: Any) -> str:
    kind, message = error["type"], error["msg"]
    if kind == "none_required":
        return ", and a stage of this kind has none"
    if kind in _TYPES:
        return f"; expected {_TYPES[kind]}{_unquoted(error)}"
    return f"; {message[0].lower()}{message[1:]}"


def _given(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def _unquoted(error: Any) -> str:
    """For "300": the number that somebody put into quotes."""
    value = error["input"]
    is_number = error["type"] in ("int_type", "float_type") and isinstance(value, str)
    return " without quotes" if is_number and value.strip().isdecimal() else ""


def _unknown(path: Path, loc: Path, raw: Any, top: type[Part]) -> str:
    where, name, above = shown(path), str(path[-1]), loc[:-1]
    if _has_both(path, raw):
        return f"{shown(path[:-1])} has both concurrency and rate_per_s; a load takes one of them."
    if kinds := kinds_with(name, above, top):
        listed = " and ".join(repr(kind) for kind in kinds)
        return f"{where} is a field of kind {listed}, and not of this one."
    if field := meant(name, above, top):
        return f"{where} is not a field of a plan; did you mean {field}?"
    homes = [home for home in homes_of(name, top) if home != path[0]]
    if homes and len(path) == 1:
        return f"{where} is not a field at the top of a plan; it belongs to {' or '.join(homes)}."
    if homes:
        know = "knows" if len(homes) == 1 else "know"
        return f"{where} is not a field there; {' and '.join(homes)} {know} it."
    return f"{where} is not a field of a plan; check its spelling."


def _has_both(path: Path, raw: Any) -> bool:
    """Whether what lies around this unknown field names two loads at once."""
    here: Any = raw
    for step in path[:-1]:
        here = here[step]
    pair = ("concurrency", "rate_per_s")
    if path[-1] not in pair or not isinstance(here, dict):
        return False
    return all(cast("dict[str, Any]", here).get(name) is not None for name in pair)
