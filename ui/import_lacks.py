"""Charts of an imported run that its file cannot fill, each with the reason instead of a figure."""

import json
from typing import Any

import streamlit as st

from analysis.unanswered import ONLY_SUMMARY
from ui.plain import label

Json = dict[str, Any]

NO_CHUNKS = "The imported file has no times of single chunks: there are no gaps to draw."
NO_TIMES = (
    "The imported file does not tell when requests were sent: streams in flight and rates are "
    "not known."
)
NOT_OURS = "Another tool made this load; how its load generator fared is not told."


def imported_of(run: Json) -> Json:
    """What is known of the file that a run is from; {} for a run of ours.  run: a store's row."""
    facts = run.get("facts")
    return json.loads(facts).get("imported") or {} if isinstance(facts, str) else {}


def why_not_drawn(run: Json, chart: str) -> str:
    """Why the chart of that name in CHARTS would be empty; "" if it would not.

    run: a row of the store's `run`.
    """
    imported = imported_of(run)
    if not imported:
        return ""
    if chart == "generator":
        return NOT_OURS
    if not run.get("n_requests"):
        return ONLY_SUMMARY
    if chart in ("itl_density", "event_timeline") and not imported.get("has_chunks"):
        return NO_CHUNKS
    if chart in ("throughput", "level_timeline") and not imported.get("has_times"):
        return NO_TIMES
    return ""


def plan_card(run: Json) -> tuple[str, str]:
    """Title and line of the card with the stored plan."""
    if imported_of(run):
        return "Imported file", "What it tells of its set-up: there is no plan to run again."
    return "Plan", "Its exact bytes; `headway run` takes the file."


def source_badge(run: Json) -> None:
    """Which tool's file an imported run is from."""
    if imported := imported_of(run):
        told = " ".join(str(imported[k]) for k in ("title", "version") if imported.get(k))
        st.badge(label(f"imported from {told}", 80), icon=":material/upload_file:", color="blue")
