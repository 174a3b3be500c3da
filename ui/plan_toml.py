"""A plan as the TOML file that `headway run` takes; fields at their default are left out."""

import json
from typing import Any

from loadgen.plan import Plan


def plan_toml(plan: Plan) -> str:
    """Reads back as an equal plan; the url, model and stages are always written."""
    raw = plan.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    top = [_line(key, value) for key, value in raw.items() if not isinstance(value, dict | list)]
    blocks = ["\n".join(top)] if top else []
    for key, value in raw.items():
        if isinstance(value, dict):
            blocks.append(_table(f"[{key}]", value))
        elif isinstance(value, list):
            blocks += [_table(f"[[{key}]]", row) for row in value]
    return "\n\n".join(blocks) + "\n"


def _table(head: str, values: dict[str, Any]) -> str:
    return "\n".join([head, *(_line(key, value) for key, value in values.items())])


def _line(key: str, value: Any) -> str:
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    # JSON's strings, numbers and booleans are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
