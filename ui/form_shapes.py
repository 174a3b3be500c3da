"""Shapes of a load in a form: every shape's fields have names of their own."""

from typing import Any

from ui.form_spread import Form, given
from ui.form_text import numbers_of, points_of, points_text, text_of

SHAPE_FIELDS: dict[str, dict[str, str]] = {
    "ramp": {"start": "ramp_start", "end": "ramp_end"},
    "steps": {"values": "step_values"},
    "spike": {"base": "base", "peak": "peak", "at_s": "at_s", "for_s": "for_s"},
    "day": {"low": "day_low", "high": "day_high", "peak_hour": "peak_hour"},
    "table": {"points": "points", "file": "table_file"},
}
"""shape -> its field in a plan -> its field in the form."""


def shape_raw(form: Form) -> Form:
    """A plan's shape."""
    fields = SHAPE_FIELDS[form["shape"]]
    raw: Form = given({name: form[field] for name, field in fields.items()})
    if "values" in raw:
        raw["values"] = numbers_of(raw["values"])
    if "points" in raw:
        raw["points"] = points_of(raw["points"])
    return {"shape": form["shape"], **raw}


def shape_form(raw: Form) -> Form:
    """raw: a shape's `model_dump`."""
    fields = SHAPE_FIELDS[raw["shape"]]
    return {"shape": raw["shape"]} | {fields[k]: _typed(k, raw[k]) for k in fields}


def _typed(name: str, value: Any) -> Any:
    if name == "values":
        return text_of(value)
    if name == "points":
        return points_text(value or ())
    return value or "" if name == "file" else value
