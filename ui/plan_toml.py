"""A plan as the TOML file that `headway run` takes; fields at their default are left out."""

import json
import re
from typing import Any, cast

from pydantic import BaseModel

from loadgen.plan import Plan, PlanError

TAGS = ("kind", "shape")  # what tells one part of a union from another, so no default
GUESSED = ("closed", "open")  # kinds of a stage that need not be written


def plan_toml(plan: Plan) -> str:
    """Reads back as an equal plan; the url, model and stages are always written.

    Raises PlanError for the one thing that JSON can say and TOML cannot.
    """
    raw = _given(plan)
    top = [_line(key, value) for key, value in raw.items() if not isinstance(value, dict | list)]
    blocks = ["\n".join(top)] if top else []
    for key, value in raw.items():
        if key == "targets":
            blocks += [_table(f"[targets.{name}]", target) for name, target in value.items()]
        elif isinstance(value, dict):
            blocks.append(_table(f"[{key}]", value))
        elif isinstance(value, list):
            blocks += [_row(key, row) for row in value]
    return "\n\n".join(blocks) + "\n"


def _given(part: BaseModel) -> dict[str, Any]:
    """What its author had to write: all that is not None and not its field's default."""
    found: dict[str, Any] = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        is_tag = name in TAGS and value not in GUESSED
        default: Any = field.get_default(call_default_factory=True, validated_data={})
        if value is not None and (is_tag or value != default):
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _given(value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in cast("list[Any]", value)]
    return value


def _row(key: str, row: dict[str, Any]) -> str:
    """One entry of a list of tables; a class's workload is long, so it gets a table of its own."""
    line = {k: v for k, v in row.items() if k != "workload"}
    told = _table(f"[[{key}]]", line)
    return f"{told}\n{_table(f'[{key}.workload]', row['workload'])}" if "workload" in row else told


def _table(head: str, values: dict[str, Any]) -> str:
    return "\n".join([head, *(_line(key, value) for key, value in values.items())])


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return "{ " + ", ".join(_line(k, v) for k, v in pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, cast("list[Any]", value))) + "]"
    if value is None:  # how a JSON plan takes a field out of its requests
        raise PlanError(["A null in extra_body is nothing that TOML can say; keep this as JSON."])
    # JSON's strings, numbers and booleans are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
