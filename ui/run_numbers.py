"""Every number of one load level as tables and as CSV, and its formula in words."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.metrics import METRICS
from ui.plain import DASH, number

Json = dict[str, Any]
TAIL = ("p50", "p90", "p95", "p99")
FAR = "p99.9"  # of 1,000 samples and more
SLOW = ("p1", "p5", "p10", *TAIL, FAR)  # where higher is better the slow end is the low one
WITH_INTERVAL = ("p5", "p1", "p95", "p99", FAR)
WIDTHS = {"Undefined": 92}  # of a column whose heading needs it
BETTER = {"lower": "lower is better", "higher": "higher is better", "neither": "no direction"}


def percentiles_table(metrics: Json, better: str) -> pd.DataFrame:
    """One row per metric with percentiles that is better `lower` or `higher`; figures as text.

    metrics: of a level of show.py.  A dash: undefined, and the last column says why.
    """
    has_far = any(FAR in found for found in metrics.values())
    tail = (*TAIL, FAR) if has_far else TAIL
    shown = tail if better == "lower" else ("p50", "p10", "p5", "p1")
    rows = [
        {
            "Metric": METRICS[name].title,
            "Unit": METRICS[name].unit,
            "n": f"{found['n']:,}",
            "Undefined": f"{found['undefined']:,}",
            **{key: _with_interval(found, key) for key in shown},
            "Mean": _figure(found["mean"]),
            "To know": _to_know(found),
        }
        for name, found in metrics.items()
        if METRICS[name].better == better and "undefined" in found and "mean" in found
    ]
    return pd.DataFrame(rows)


def values_table(metrics: Json) -> pd.DataFrame:
    """One row per metric of the level as a whole: its value and 95 % interval, as text."""
    rows = [
        {
            "Metric": METRICS[name].title,
            "Unit": METRICS[name].unit,
            "Value": _figure(found["value"]),
            "95 % interval": _interval(found.get("ci95")),
            "n": _counted(found.get("n")),
            "To know": _to_know(found),
        }
        for name, found in metrics.items()
        if "value" in found
    ]
    return pd.DataFrame(rows)


def columns(table: pd.DataFrame) -> Json:
    """How both tables are drawn: names left and pinned, figures right."""
    text = st.column_config.TextColumn
    told: Json = {
        "Metric": text(pinned=True, width=225),
        "Unit": text(width=98),
        "To know": text(width=480),
    }
    for name in map(str, table.columns):
        if name not in told:
            is_wide = name in WITH_INTERVAL or name == "95 % interval"
            title = f"{name} [95 % interval]" if name in WITH_INTERVAL else name
            told[name] = text(
                title, alignment="right", width=144 if is_wide else WIDTHS.get(name, 70)
            )
    return told


def numbers_csv(level: Json) -> str:
    """All of it for a spreadsheet: one row per metric, figures unrounded, empty where undefined."""
    return pd.DataFrame([_csv_row(name, found) for name, found in level["metrics"].items()]).to_csv(
        index=False
    )


def _csv_row(name: str, found: Json) -> Json:
    metric = METRICS[name]
    bounds = found.get("ci95") or {}
    if isinstance(bounds, list):
        bounds = {"value": bounds}
    row: Json = {"metric": name, "title": metric.title, "unit": metric.unit}
    row |= {key: found.get(key) for key in ("n", "undefined", "value", "mean", *SLOW)}
    for key in ("value", *SLOW):
        low, high = bounds.get(key, (None, None))
        row |= {f"{key}_low": low, f"{key}_high": high}
    row |= {f"{key}_needs_n": (found.get("need_n") or {}).get(key) for key in (*TAIL, FAR)}
    row |= {f"{key}_n_eff": (found.get("n_eff") or {}).get(key) for key in (*TAIL, FAR)}
    told = {"reason": found.get("reason"), "note": found.get("note")}
    return row | told | {"formula": metric.formula, "sql": metric.sql}


def _with_interval(found: Json, key: str) -> str:
    figure = _figure(found.get(key))
    bounds = found["ci95"].get(key) if key in WITH_INTERVAL else None
    return f"{figure} {_interval(bounds)}" if bounds and figure != DASH else figure


def _figure(value: float | None) -> str:
    """Four digits, none of them a zero that says nothing."""
    told = number(value, 4)
    return told.rstrip("0").rstrip(".") if "." in told else told


def _interval(bounds: list[float | None] | None) -> str:
    """`[low, high]`; a dash for a bound that so few samples do not have."""
    if not bounds:
        return ""
    low, high = bounds
    return f"[{_figure(low)}, {_figure(high)}]"


def _counted(n: int | None) -> str:
    """A count; "" where there is none, or nobody knows it."""
    return "" if n is None else f"{n:,}"


def _to_know(found: Json) -> str:
    """Why it is undefined, what it assumes, how many samples its tail needs, or is worth."""
    worth = [f"n_eff {n:,} at {key}" for key, n in found.get("n_eff", {}).items() if key in TAIL]
    need = [f"{key} needs n = {n:,}" for key, n in (found.get("need_n") or {}).items()]
    why = found.get("reason") or found.get("note") or found.get("ci95_reason") or ""
    told = [part for part in (why, ", ".join(worth), ", ".join(need)) if part]
    return "; ".join(told)


def formula_text(name: str) -> str:
    """What one metric is, in words."""
    metric = METRICS[name]
    return (
        f"{metric.title}: {metric.formula}; {BETTER[metric.better]}.\n"
        f"Undefined when: {metric.undefined_when}.\nSource: {metric.source}."
    )
