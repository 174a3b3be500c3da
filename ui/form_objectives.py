"""Objectives: percentile of a metric within a limit; a row without a limit is none."""

import streamlit as st

from analysis.metrics import METRICS
from ui.form_lists import grow_or_shrink, how_many
from ui.form_spread import Form
from ui.form_widgets import Fields

CHOICES = {name: metric.heading for name, metric in METRICS.items() if metric.is_objective}


def objective_fields(fields: Fields) -> list[Form]:
    """Step 4: by what the run will be judged, as ui.form_traffic.slos_raw takes it."""
    rows = objective_rows(fields)
    st.caption(
        "TTFT, 95 and 1,000: of 100 first tokens 95 come within a second. Without a limit nothing "
        "is judged."
    )
    return rows


def objective_rows(fields: Fields) -> list[Form]:
    """At least one row; more on demand."""
    n = how_many(fields, "slo", 1)
    rows = [_row(fields.under(f"slo{i + 1}_"), list(CHOICES)[i % len(CHOICES)]) for i in range(n)]
    grow_or_shrink(fields, "slo", ("Add an objective", "Remove the last"), least=1)
    return rows


def _row(fields: Fields, first: str) -> Form:
    """first: what a new row is about, so that it does not repeat the one before."""
    metric, percentile, limit = st.columns([3, 2, 3])
    with metric:
        name = fields.select("metric", "Metric", CHOICES, otherwise=first)
    with percentile:
        at = fields.number("percentile", "Percentile", 95)
    with limit:
        most = fields.number("max_ms", "At most, ms", None, step=50, placeholder="no objective")
    return {"metric": name, "percentile": at, "max_ms": most}
