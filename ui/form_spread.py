"""Lengths and pauses in a form: a kind, and the few numbers that belong to it."""

from typing import Any

Form = dict[str, Any]
FIXED = "fixed"

LENGTHS: dict[str, tuple[str, ...]] = {
    FIXED: ("value",),
    "uniform": ("low", "high"),
    "normal": ("mean", "sd", "low", "high"),
    "lognormal": ("median", "sigma", "low", "high"),
    "file": ("path", "column"),
}
"""kind of a length -> its fields."""

PAUSES: dict[str, tuple[str, ...]] = {
    FIXED: ("value",),
    "exponential": ("mean",),
    "lognormal": ("median", "sigma"),
    "uniform": ("low", "high"),
}
"""The same of a think time."""

KIND_TITLES = {
    FIXED: "exactly",
    "uniform": "uniform",
    "normal": "normal",
    "lognormal": "lognormal",
    "exponential": "exponential",
    "file": "from a file",
}


def given(values: Form) -> Form:
    """What was filled in: neither None nor blank; text without blanks around it."""
    stripped = {k: v.strip() if isinstance(v, str) else v for k, v in values.items()}
    return {k: v for k, v in stripped.items() if v is not None and v != ""}


def spread_raw(form: Form) -> Any:
    """A plan's length or pause; None where nothing is filled in."""
    if form["kind"] == FIXED:
        return form.get("value")
    return given(form)


def spread_form(raw: Any) -> Form:
    """raw: from a plan's `model_dump`."""
    return {"kind": FIXED, "value": raw} if not isinstance(raw, dict) else dict[str, Any](raw)


def usual(kind: str, about: float) -> Form:
    """Numbers to begin with, where somebody changes the kind of a spread around `about`."""
    low, high = max(1, round(about / 2)), max(1, round(about * 1.5))
    numbers: dict[str, Form] = {
        FIXED: {"value": about},
        "uniform": {"low": low, "high": high},
        "normal": {"mean": about, "sd": about / 4, "low": 1},
        "lognormal": {"median": about, "sigma": 0.5, "low": 1},
        "exponential": {"mean": about},
    }
    return numbers.get(kind, {})
