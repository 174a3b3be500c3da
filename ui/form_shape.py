"""A load that changes within a stage: the shape, and the numbers that make it."""

import streamlit as st

from ui.form_spread import Form
from ui.form_widgets import Fields

SHAPES = {
    "ramp": "Ramp",
    "steps": "Steps",
    "spike": "Spike",
    "day": "Day",
    "table": "Table",
}
NUMBERS: dict[str, tuple[tuple[str, str, float], ...]] = {
    "ramp": (("ramp_start", "From", 1), ("ramp_end", "To", 10)),
    "spike": (
        ("base", "Usual load", 2),
        ("peak", "Peak", 10),
        ("at_s", "Peak begins after, s", 40),
        ("for_s", "Peak lasts, s", 30),
    ),
    "day": (
        ("day_low", "At night", 1),
        ("day_high", "At the busiest", 10),
        ("peak_hour", "Busiest hour", 14),
    ),
}
SAYS = {
    "ramp": "Straight from one load to the other.",
    "steps": "One load after the other, each for an equal part of the time.",
    "spike": "The lunchtime rush: up at once, and down again.",
    "day": "The 24 hours of a day, squeezed into the seconds below.",
    "table": "Straight lines between the points.",
}


def shape_fields(fields: Fields) -> Form:
    """The shape and its own fields, by the names of ui.form_shapes."""
    shape = fields.segments("shape", "Shape", SHAPES, label_visibility="collapsed")
    st.caption(SAYS[shape])
    form: Form = {"shape": shape}
    if shape == "steps":
        form["step_values"] = fields.text("step_values", "Loads", "2, 5, 10, 5, 2")
    if shape == "table":
        form["points"] = fields.lines(
            "points", "Second and load, one point per line", placeholder="0, 1\n60, 10\n120, 1"
        )
        form["table_file"] = fields.text(
            "table_file", "or a CSV file of such lines", placeholder="load.csv, on this machine"
        )
    numbers = NUMBERS.get(shape, ())
    for column, (name, title, otherwise) in zip(
        st.columns(len(numbers), vertical_alignment="bottom") if numbers else (),
        numbers,
        strict=True,
    ):
        with column:
            form[name] = fields.number(name, title, otherwise)
    return form
