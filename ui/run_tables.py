"""The tables of the Run page: the levels side by side, what failed, and the machine."""

import json
import math
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from analysis.checks import NOT_STEADY
from analysis.frames import floats, where
from analysis.metrics import METRICS
from analysis.quantiles import is_thin
from ui.plain import counted

Json = dict[str, Any]
FINE = ("tpot", "chunk_gap")  # told to a tenth of a millisecond
PERCENTILES = {  # column -> (metric, percentile, decimals)
    f"{metric.heading} {p}": (metric.name, p, int(metric.name in FINE))
    for metric in METRICS.values()
    for p in metric.columns
    if p != "value"
}
VALUES = {metric.name: metric for metric in METRICS.values() if "value" in metric.columns}
VALUE_FORMATS = {"tps_system": "%,.0f", "request_rate": "%,.2f", "mean_in_flight": "%,.1f"}
SHOWN_DIGITS = 12  # of a checksum
CONNECTIONS = {
    "warm": "opened before the clock",
    "cold": "one for each request, within its TTFT",
}


def levels_table(levels: list[Json]) -> pd.DataFrame:
    """One row per load level: the numbers behind the charts; what no level has is no column."""
    return pd.DataFrame([_level_row(level) for level in levels]).dropna(axis="columns", how="all")


def levels_columns() -> Json:
    """How `levels_table` is drawn: units in the headings, thousands in the numbers."""
    number_column = st.column_config.NumberColumn
    shown = {
        "Requests": number_column(format="localized"),
        "Failed": number_column(format="localized"),
        "Note": st.column_config.TextColumn(
            help="Choose the level above to read its window and its warnings."
        ),
    }
    few = "In brackets: less than one request is expected beyond it; do not quote it alone."
    for name, (metric, p, _) in PERCENTILES.items():
        told = f"{METRICS[metric].title}, {p}: {METRICS[metric].formula}. {few}"
        shown[name] = number_column(f"{name}, ms", help=told)
    for name, metric in VALUES.items():
        shown[metric.heading] = number_column(
            f"{metric.heading}, {metric.unit}", format=VALUE_FORMATS[name], help=metric.formula
        )
    return shown


def marked(table: pd.DataFrame, levels: list[Json]) -> Styler:
    """The table with each percentile of too few requests in brackets; it still sorts as numbers."""
    styled = table.style
    for name, (metric, p, digits) in PERCENTILES.items():
        if name not in table:
            continue
        share = float(p[1:]) / 100
        thin = [is_thin(level["metrics"][metric]["n"], share) for level in levels]
        for wanted, figure in ((False, f"{{:,.{digits}f}}"), (True, f"({{:,.{digits}f}})")):
            rows = [i for i, is_few in enumerate(thin) if is_few == wanted]
            styled.format(figure, subset=pd.IndexSlice[rows, [name]], na_rep="–")
    return styled


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
    rows = [{"Level": lv["name"], **lv["outcomes"]} for lv in levels]
    frame = pd.DataFrame(rows).fillna(0)
    return frame.rename(columns=lambda name: str(name).replace("_", " "))


def machine_table(run: Json) -> pd.DataFrame:
    """Where the load came from.  run: a row of the store's `run`."""
    versions = _object(run.get("versions"))
    told = {
        "Run": run.get("run_uid"),
        f"Plan, SHA-256 (first {SHOWN_DIGITS})": str(run.get("plan_sha256") or "")[:SHOWN_DIGITS],
        "Target": run.get("target_url") or run.get("url"),
        "Host": run.get("host"),
        "Cores": run.get("cpu_count"),
        "Load workers": run.get("n_workers"),
        "Arrival stamps": {"kernel": "kernel", "user": "user space"}.get(str(run.get("stamps"))),
        "Connections": CONNECTIONS.get(_object(run.get("plan")).get("connections") or ""),
        "Token events": run.get("n_events"),
        "Damaged segments": run.get("n_damaged_segments"),
    } | {f"Version of {name}": str(version)[:SHOWN_DIGITS] for name, version in versions.items()}
    rows = [(name, _text(value)) for name, value in told.items()]
    return pd.DataFrame([row for row in rows if row[1]], columns=pd.Index(["What", "Value"]))


def workers_table(pulses: pd.DataFrame, doubt: pd.DataFrame) -> pd.DataFrame:
    """One row per load worker over the whole run, without what no worker could tell.

    pulses, doubt: the store's frames.
    """
    rows: list[Json] = []
    for worker in sorted({int(w) for w in floats(pulses, "worker")}):
        beats = where(pulses, floats(pulses, "worker") == worker)
        mine = where(doubt, floats(doubt, "worker") == worker)
        events = float(np.nansum(floats(mine, "events")))
        shared = float(np.nansum(floats(mine, "shared")))
        rows.append(
            {
                "Worker": worker,
                "Tokens": events,
                "Shared reads, %": 100 * shared / events if events else None,
                "Doubt, worst second's p99, ms": _most(mine, "bound_p99_us", 1e3),
                "Stamps missing": float(np.nansum(floats(beats, "missing_stamps"))),
                "Read lag p99, worst, ms": _most(beats, "read_lag_p99_us", 1e3),
                "Dispatch late p99, worst, ms": _most(beats, "dispatch_lag_p99_us", 1e3),
                "Loop late, worst, ms": _most(beats, "hub_late_max_us", 1e3),
                "Collector, worst, ms": _most(beats, "gc_pause_max_us", 1e3),
                "CPU, most, %": _most(beats, "cpu_share", 0.01),
                "Connections opened": float(np.nansum(floats(beats, "connects"))),
                "TCP connect p50, worst, ms": _most(beats, "connect_p50_us", 1e3),
                "Round trip, worst, ms": _most(beats, "rtt_p50_us", 1e3),
            }
        )
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def workers_columns(table: pd.DataFrame) -> Json:
    """How `workers_table` is drawn: counts whole, times to a tenth of a µs where that small."""
    whole = ("Worker", "Tokens", "Stamps missing", "Connections opened")
    return {
        str(name): st.column_config.NumberColumn(format="%,d" if name in whole else "%,.3g")
        for name in table.columns
    }


def _most(frame: pd.DataFrame, column: str, unit: float) -> float | None:
    values = floats(frame, column)
    return None if np.isnan(values).all() else float(np.nanmax(values)) / unit


def versions_download(run: Json) -> None:
    """The checksum and the versions in full."""
    told = {"plan_sha256": run.get("plan_sha256"), "versions": _object(run.get("versions"))}
    st.download_button(
        "Checksum and versions in full",
        json.dumps(told, indent=2, default=str),
        file_name=f"machine-{run.get('run_uid')}.json",
        mime="application/json",
        icon=":material/download:",
        type="tertiary",
    )


def _level_row(level: Json) -> Json:
    m, outcomes = level["metrics"], level["outcomes"]
    failed = sum(n for kind, n in outcomes.items() if kind not in ("complete", "cancelled"))
    return {
        "Level": level["name"],
        "Note": _note(level),
        METRICS["mean_in_flight"].heading: level["mean_in_flight"],
        "Requests": level["requests"],
        "Failed": failed if level["requests"] is not None else None,
        **{name: m[metric][p] for name, (metric, p, _) in PERCENTILES.items()},
        **{metric.heading: m[name]["value"] for name, metric in VALUES.items() if name in m},
    }


def _note(level: Json) -> str:
    """What a reader must know before quoting the level's row."""
    told = ["short"] if level["window"]["short"] else []
    if any(said.startswith(NOT_STEADY) for said in level["warnings"]):
        told.append("not steady")
    elif level["warnings"]:
        told.append(counted(len(level["warnings"]), "warning"))
    return f"⚠ {', '.join(told)}" if told else ""


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
