"""The boxes pages are made of: a titled card, the verdict's box, a row of tiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Tone = Literal["green", "red", "orange", "gray", "blue"]
ICONS: dict[Tone, str] = {
    "green": "check_circle",
    "red": "error",
    "orange": "warning",
    "gray": "info",
    "blue": "pending",
}


def card(key: str, title: str, sub: str = "", height: Any = "stretch") -> DeltaGenerator:
    """A bordered box with a heading and one grey line under it; both are our own words."""
    box = st.container(border=True, key=f"card_{key}", height=height)
    under = f"\n:gray[:small[{sub}]]" if sub else ""
    box.markdown(f"## {title}{under}")
    return box


def verdict(tone: Tone, headline: str, text: str = "", key: str = "main") -> DeltaGenerator:
    """The first thing to read: a coloured headline in our words, and a sentence as plain text.

    Returns the box, for a link below the sentence.
    """
    box = st.container(border=True, key=f"verdict_{tone}_{key}", gap="xsmall")
    box.markdown(f":{tone}[:material/{ICONS[tone]}: **{headline}**]")
    if text:
        box.text(text)
    return box


@dataclass(frozen=True, slots=True)
class Tile:
    """One number with its name; `note` is the grey line below (interval, n), `help` the formula."""

    label: str
    value: str
    note: str = ""
    help: str | None = None


def tiles(shown: Sequence[Tile], min_width_px: int = 170) -> None:
    """Tiles in one row; fewer per row where there is less room."""
    with st.grid(columns=len(shown), min_column_width=min_width_px, gap="small"):
        for tile in shown:
            st.metric(
                tile.label,
                tile.value,
                delta=tile.note or None,
                delta_color="off",
                delta_arrow="off",
                border=True,
                help=tile.help,
                height="stretch",
            )
