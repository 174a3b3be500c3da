"""The steps of the New run page, each in a card; what their widgets hold as one form."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ui.card import card
from ui.form_endpoint import endpoint_fields, further_endpoints, price_fields
from ui.form_limits import limit_fields, sender_fields
from ui.form_lists import how_many
from ui.form_load import load_fields
from ui.form_objectives import objective_fields
from ui.form_places import Problem
from ui.form_spread import Form
from ui.form_widgets import Fields
from ui.form_workload import traffic_fields
from ui.plain import label

__all__ = ["Boxes", "endpoint_fields", "read_steps"]


@dataclass(slots=True)
class Boxes:
    """Where the problems of each step are shown: under its fields, once the plan is known."""

    places: dict[str, Any] = field(default_factory=dict[str, Any])

    def mark(self, step: str, box: Any) -> None:
        """Problems of `step` are written into `box`."""
        self.places[step] = box

    def show(self, problems: Sequence[Problem]) -> None:
        """Each problem in its step's box, or in the one of the step that stands for it."""
        for problem in problems:
            step = (
                problem.step if problem.step in self.places else problem.step.rstrip("0123456789")
            )
            box = self.places.get(step) or self.places[STANDS_FOR.get(step, "start")]
            tone, icon = ("gray", "edit") if problem.missing else ("red", "error")
            box.markdown(f":{tone}[:material/{icon}: {label(problem.text, 300)}]")


STANDS_FOR = {"class": "workload", "target": "endpoint", "stage": "load"}


def read_steps(fields: Fields, boxes: Boxes) -> Form:
    """All steps, top to bottom, as ui.plan_form.plan_of takes them."""
    form: Form = {}
    box = card("endpoint", "1 · Endpoint", height="content")
    boxes.mark("endpoint", box)
    with box:
        form["target"] = endpoint_fields(fields)
        with st.expander("Prices, further endpoints", expanded=how_many(fields, "target") > 0):
            form["target"] |= price_fields(fields)
            form["targets"] = further_endpoints(fields, boxes.mark)
    box = card("workload", "2 · Workload", height="content")
    boxes.mark("workload", box)
    with box:
        form["workload"], form["classes"] = traffic_fields(fields, boxes.mark)
    box = card("load", "3 · Load", height="content")
    boxes.mark("load", box)
    with box:
        form["stages"] = load_fields(fields, boxes.mark)
    box = card("objective", "4 · Objective", height="content")
    boxes.mark("objective", box)
    with box:
        form["slos"] = objective_fields(fields)
    box = st.container(key="card_limits")
    boxes.mark("limits", box)
    with box, st.expander("Limits, seed, load workers"):
        form["limits"] = limit_fields(fields)
        form |= sender_fields(fields)
    return form
