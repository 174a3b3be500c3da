"""The list of runs as the Runs page shows it: words instead of codes, one row per run."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ui.run_text import STATES, endpoint_text, load_text

DISBELIEVED = "Do not believe"
OPEN_KEY = "open_run"  # session state of the click on a run's name
AGAIN = "↻"
AGAIN_KEY = "run_again"  # and of the one on its button


def runs_table(
    runs: pd.DataFrame, timezone: str | None, verdicts: Sequence[str | None]
) -> pd.DataFrame:
    """runs: the store's `runs()`.  timezone: the reader's, for `Started`; UTC if unknown.

    verdicts: of ui.judged, one for each run.
    """
    plans = [_plan(text) for text in runs["plan"]]
    table = pd.DataFrame(
        {
            "State": [
                [DISBELIEVED if verdict == "saturated" else STATES[state][1]]
                for state, verdict in zip(runs["state"], verdicts, strict=True)
            ],
            "Run": runs["name"],
            "Again": [AGAIN if plan and not is_imported(plan) else None for plan in plans],
            "Source": [source_text(plan) for plan in plans],
            "Endpoint": [
                endpoint_text(url if isinstance(url, str) else "") + _insecure(plan)
                for url, plan in zip(runs["url"], plans, strict=True)
            ],
            "Model": runs["model"],
            "Load": [load_text(plan.get("stages", [])) for plan in plans],
            "Requests": runs["n_requests"].astype("Int64"),
            "Failed": runs["n_failed"].astype("Int64"),
            "TTFT p95, levels": [_ms_list(values) for values in runs["ttft_p95_by_stage_us"]],
            "Worst p95": [_worst(values) for values in runs["ttft_p95_by_stage_us"]],
            "Started": runs["started_at"].dt.tz_convert(timezone or "UTC"),
        }
    )
    # Most folders hold runs of our own only: no column that says nothing.
    return table if any(map(is_imported, plans)) else table.drop(columns="Source")


def is_imported(plan: dict[str, Any]) -> bool:
    """Whether the stored plan is of another tool's file: there is nothing to run again."""
    return isinstance(plan.get("imported"), dict)


def source_text(plan: dict[str, Any]) -> str | None:
    """The tool whose file it was, `GuideLLM 0.8.1`; None for a run of our own."""
    if not is_imported(plan):
        return None
    told = plan["imported"]
    return " ".join(str(told[key]) for key in ("title", "version") if told.get(key))


def runs_columns() -> dict[str, Any]:
    """How each column of `runs_table` is drawn."""
    words = [*(word for _, word in STATES.values()), DISBELIEVED]
    colors = [*(tone for tone, _ in STATES.values()), "red"]
    column = st.column_config
    return {
        "State": column.MultiselectColumn(options=words, color=colors, width=118),
        # A button in the table, not a selected cell: the Tab key alone must not leave the page.
        "Run": column.ButtonColumn(type="tertiary", key=OPEN_KEY, alignment="left", width=150),
        "Again": column.ButtonColumn(
            AGAIN,
            help="Run it again with changes: New run, filled in with its plan.",
            type="tertiary",
            key=AGAIN_KEY,
            width=48,
        ),
        "Source": column.TextColumn(help="The tool whose result file it was.", width=110),
        "Endpoint": column.TextColumn(width=146),
        "Model": column.TextColumn(width=88),
        "Load": column.TextColumn(width=146),
        "Requests": column.NumberColumn(
            help="Of the whole run; the Run page counts those of a level's window.",
            format="%,d",
            width=82,
        ),
        "Failed": column.NumberColumn(help="Of the whole run.", format="%,d", width=66),
        "TTFT p95, levels": column.LineChartColumn(
            help="95 of 100 first tokens came within this time; one point per whole load level, "
            "ms. The Run page judges a level by its window.",
            y_min=0,
            width=112,
        ),
        "Worst p95": column.NumberColumn(
            "Worst, whole level",
            help="TTFT p95 of the load level where it is highest, over the whole level: its ramp "
            "and drain too. The Run page judges a level by its window, so its number differs.",
            format="%,.0f ms",
            width=125,
        ),
        "Started": column.DatetimeColumn(format="D MMM YYYY, HH:mm", width=132),
    }


def _plan(text: Any) -> dict[str, Any]:
    """The stored plan; {} for an imported run, which has none of ours."""
    try:
        plan = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}


def _insecure(plan: dict[str, Any]) -> str:
    """Said wherever the run is shown: its server's certificate was not verified."""
    target = plan.get("target")
    is_off = isinstance(target, dict) and target.get("verify_tls") is False
    return " ⚠ certificate not verified" if is_off else ""


def _ms_list(values: Any) -> list[float] | None:
    known = [] if values is None else [v / 1000 for v in values if pd.notna(v)]
    return known or None


def _worst(values: Any) -> float | None:
    return max(_ms_list(values) or [], default=None)
