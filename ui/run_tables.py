"""The tables of the Run page: the levels side by side, what failed, and the machine."""

import json
import math
from numbers import Real
from typing import Any

import pandas as pd
import streamlit as st

Json = dict[str, Any]


def levels_table(levels: list[Json]) -> pd.DataFrame:
    """One row per load level: the numbers behind the charts."""
    return pd.DataFrame([_level_row(level) for level in levels])


def levels_columns() -> Json:
    """How `levels_table` is drawn: units in the headings, thousands in the numbers."""
    number_column = st.column_config.NumberColumn
    shown = {
        "Streams": number_column("Streams in flight", format="%.1f", help="Measured mean."),
        "Requests": number_column(format="localized"),
        "Failed": number_column(format="localized"),
        "tok/s": number_column("System output, tok/s", format="%.0f"),
        "req/s": number_column("Complete, req/s", format="%.2f"),
    }
    for name in ("TTFT p50", "TTFT p95", "TTFT p99", "Gap p99", "E2E p95"):
        shown[name] = number_column(f"{name}, ms", format="%.0f")
    shown["TPOT p50"] = number_column("TPOT p50, ms", format="%.1f")
    shown["Gap p99"] = number_column("Chunk gap p99, ms", format="%.1f")
    return shown


def failures_table(failures: list[Json]) -> pd.DataFrame:
    """What failed where, with the server's own sentence; a table, so that it stays plain text."""
    return pd.DataFrame(
        [
            {
                "Level": failure["stage"],
                "Outcome": failure["outcome"].replace("_", " "),
                "Requests": failure["n"],
                "What was said": failure["detail"] or "nothing",
            }
            for failure in failures
        ]
    )


def outcomes_table(levels: list[Json]) -> pd.DataFrame:
    """Requests of each level by outcome; an outcome that nobody met has no column."""
    rows = [{"Level": lv["stage"], **lv["outcomes"]} for lv in levels]
    frame = pd.DataFrame(rows).fillna(0)
    return frame.rename(columns=lambda name: str(name).replace("_", " "))


def machine_table(run: Json) -> pd.DataFrame:
    """Where the load came from.  run: a row of the store's `run`."""
    versions = _object(run.get("versions"))
    told = {
        "Run": run.get("run_uid"),
        "Plan, SHA-256": run.get("plan_sha256"),
        "Target": run.get("target_url") or run.get("url"),
        "Host": run.get("host"),
        "Cores": run.get("cpu_count"),
        "Load workers": run.get("n_workers"),
        "Arrival stamps": {"kernel": "kernel", "user": "user space"}.get(str(run.get("stamps"))),
        "Token events": run.get("n_events"),
        "Damaged segments": run.get("n_damaged_segments"),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    rows = [(name, _text(value)) for name, value in told.items()]
    return pd.DataFrame([row for row in rows if row[1]], columns=pd.Index(["What", "Value"]))


def _level_row(level: Json) -> Json:
    m, outcomes = level["metrics"], level["outcomes"]
    failed = sum(n for kind, n in outcomes.items() if kind not in ("complete", "cancelled"))
    return {
        "Level": level["stage"],
        "Streams": level["mean_in_flight"],
        "Requests": level["requests"],
        "Failed": failed,
        "TTFT p50": m["ttft"]["p50"],
        "TTFT p95": m["ttft"]["p95"],
        "TTFT p99": m["ttft"]["p99"],
        "Gap p99": m["chunk_gap"]["p99"],
        "TPOT p50": m["tpot"]["p50"],
        "E2E p95": m["e2e"]["p95"],
        "tok/s": m["tps_system"]["value"],
        "req/s": m["request_rate"]["value"],
    }


def _object(text: Any) -> Json:
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    """ "" for what is not known."""
    if isinstance(value, Real):
        return "" if math.isnan(value) else f"{float(value):,.0f}"
    return str(value or "")
