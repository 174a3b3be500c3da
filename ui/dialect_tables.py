"""A level in other tools' words as tables: time per token side by side, and one tool's numbers."""

from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from analysis.dialects.line import main_lines
from analysis.metrics import METRICS
from ui.plain import DASH, label, number

Json = dict[str, Any]
STATS = "mean · median · p99"
OURS = "Headway"
COUNTED = ("requests", "tokens")


def per_token_table(rows: list[Json]) -> Styler:
    """Every tool's time per token, ms; rows: `per_token` of a level's document.

    A tool whose figure these records cannot give keeps its row, and a dash.
    """
    frame = pd.DataFrame(
        [
            {
                "Tool": f"**{row['tool']}**" if row["tool"] == OURS else label(row["tool"]),
                "Calls it": label(row["name"]),
                "Mean, ms": row["mean"],
                "Median, ms": row["p50"],
                "p99, ms": row["p99"],
                "What it is": label(row["meaning"], 120),
            }
            for row in rows
        ]
    )
    figures = ["Mean, ms", "Median, ms", "p99, ms"]
    frame[figures] = frame[figures].astype("float64")
    styled = frame.style
    styled.format(_figure, subset=pd.Index(figures), na_rep=DASH)
    return styled


def numbers_table(lines: list[Json], is_source: bool) -> pd.DataFrame:
    """One row per number of a tool: its statistics, ours, and why they differ.

    lines: of a dialect.  is_source: the tool measured the run, so its own report stands beside.
    """
    groups: dict[tuple[str, str], list[Json]] = {}
    for line in main_lines(lines):
        groups.setdefault((line["title"], line["unit"]), []).append(line)
    return pd.DataFrame(
        [_row(title, unit, group, is_source) for (title, unit), group in groups.items()]
    )


def differing(lines: list[Json]) -> int:
    """How many numbers differ from what the tool itself reported."""
    return sum(line.get("is_same") is False for line in lines)


def _figure(value: float) -> str:
    return number(value, 4)


def _row(title: str, unit: str, group: list[Json], is_source: bool) -> Json:
    named = f"{title}, {unit}" if unit else title
    metric = METRICS[group[0]["metric"]].title if group[0]["metric"] else ""
    report = {"Its own report": _figures(group, "reported")} if is_source else {}
    return {
        "Number": label(named) + (f"  \n:gray[:small[ours: {label(metric)}]]" if metric else ""),
        "Theirs": _figures(group, "theirs"),
        **report,
        "Ours": _figures(group, "ours"),
        "Why": _why(group),
    }


def _figures(group: list[Json], column: str) -> str:
    """The group's numbers side by side; one dash where there is none at all."""
    values = [line.get(column) for line in group]
    if all(value is None for value in values):
        return DASH
    return " · ".join(_told(value, group[0]["unit"]) for value in values)


def _told(value: float | None, unit: str) -> str:
    """Four digits; what is counted, not measured, in full."""
    if value is not None and unit in COUNTED and float(value).is_integer():
        return f"{value:,.0f}"
    return number(value, 4)


def _why(group: list[Json]) -> str:
    """The fullest of the statistics' reasons, in red where the tool's own report is another."""
    reason = label(max((line["reason"] for line in group), key=len), 900)
    odd = [line for line in group if line.get("is_same") is False]
    if not odd:
        return reason
    names = ", ".join(line["stat"] or line["title"] for line in odd)
    told = label(f"Differs from its own report ({names}). {odd[0].get('differs') or ''}", 300)
    return f":red[**{told}**] {reason}"
