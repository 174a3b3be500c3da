"""Lists in the form that grow and shrink: classes, endpoints, stages, objectives.

How many there are stands in the URL (`n_class=2`), unless it is what the page began with.
"""

from collections.abc import Callable

import streamlit as st

from ui.form_widgets import Fields


def how_many(fields: Fields, name: str, least: int = 0) -> int:
    """The number of parts of a list now."""
    asked = st.query_params.get(fields.key(f"n_{name}"), "")
    known = int(fields.default(f"n_{name}", least) or 0)
    return max(least, min(int(asked), MOST) if asked.isdecimal() else known)


def grow_or_shrink(
    fields: Fields,
    name: str,
    titles: tuple[str, str],
    least: int = 0,
    before: Callable[[int, int], int] | None = None,
) -> None:
    """Buttons for one more, and for the last one less.

    before: gets the old and the new number while the widgets still hold their values; returns the
    number that it becomes.
    """
    n = how_many(fields, name, least)
    key = fields.key(f"n_{name}")
    add, remove = titles

    def change(by: int) -> None:
        st.query_params[key] = str(before(n, n + by) if before else n + by)

    with st.container(horizontal=True, gap="small"):
        if n < MOST:
            st.button(
                add,
                key=f"{key}_add",
                type="tertiary",
                icon=":material/add:",
                on_click=change,
                args=(1,),
            )
        if n > least:
            st.button(
                remove,
                key=f"{key}_remove",
                type="tertiary",
                icon=":material/remove:",
                on_click=change,
                args=(-1,),
            )


MOST = 32
