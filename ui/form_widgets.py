"""The widgets of the New run page: each has a key, a first value, and a place in the URL.

A field that shows what the plan it began with says is not in the URL; any other is, so that the
address brings the same form back.  Names in the URL are a plan's own: `?api=anthropic_messages`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import streamlit as st

from ui.form_spread import KIND_TITLES, Form, usual
from ui.plain import label


@dataclass(frozen=True, slots=True)
class Fields:
    """Reads widgets whose keys begin with `prefix`.  defaults: key -> what it begins with."""

    defaults: Mapping[str, Any]
    prefix: str = ""

    def under(self, prefix: str) -> Self:
        """The same for a part of the form, such as `class1_`."""
        return replace(self, prefix=self.prefix + prefix)

    def key(self, name: str) -> str:
        """A widget's key, and its name in the URL."""
        return self.prefix + name

    def default(self, name: str, otherwise: Any = None) -> Any:
        """What the plan that the page began with says; `otherwise` where it does not."""
        return self.defaults.get(self.key(name), otherwise)

    def text(self, name: str, title: str, otherwise: str = "", **options: Any) -> str:
        """One line of text."""
        bind = options.pop("bind", "query-params")
        value = str(self.default(name, otherwise))
        return st.text_input(title, value, key=self.key(name), bind=bind, **options) or ""

    def lines(self, name: str, title: str, otherwise: str = "", **options: Any) -> str:
        """Text of several lines."""
        value, key = str(self.default(name, otherwise)), self.key(name)
        return st.text_area(title, value, 110, key=key, bind="query-params", **options) or ""

    def number(self, name: str, title: str, otherwise: float | None, **options: Any) -> Any:
        """A number; None where the field is empty."""
        value = self.default(name, otherwise)
        step = options.pop("step", 1.0)
        return st.number_input(
            title,
            value=None if value is None or value == "" else float(value),
            step=float(step),
            format="%g",
            key=self.key(name),
            bind="query-params",
            **options,
        )

    def whole(self, name: str, title: str, otherwise: int | None, **options: Any) -> Any:
        """A whole number; None where the field is empty."""
        value = self.default(name, otherwise)
        return st.number_input(
            title,
            value=None if value is None or value == "" else int(value),
            step=int(options.pop("step", 1)),
            key=self.key(name),
            bind="query-params",
            **options,
        )

    def toggle(self, name: str, title: str, otherwise: bool, **options: Any) -> bool:
        """On or off."""
        return st.toggle(
            title,
            self.default(name, otherwise),
            key=self.key(name),
            bind="query-params",
            **options,
        )

    def select(self, name: str, title: str, titles: Mapping[str, str], **options: Any) -> str:
        """One of a list; titles: name in a plan -> what the page calls it."""
        begin = self._begin(name, titles, options.pop("otherwise", None))
        chosen = st.selectbox(
            title,
            list(titles),
            index=list(titles).index(begin),
            format_func=titles.__getitem__,
            key=self.key(name),
            **options,
        )
        return self._kept(name, chosen or begin, begin)

    def segments(self, name: str, title: str, titles: Mapping[str, str], **options: Any) -> str:
        """One of a few that are all seen at once."""
        begin = self._begin(name, titles, None)
        chosen = st.segmented_control(
            title,
            list(titles),
            default=begin,
            required=True,
            format_func=titles.__getitem__,
            key=self.key(name),
            **options,
        )
        return self._kept(name, chosen or begin, begin)

    def spread(self, name: str, title: str, kinds: Mapping[str, Sequence[str]], about: Any) -> Form:
        """A length (whole numbers) or a pause: its kind, and beside it the kind's numbers."""
        is_length = "file" in kinds
        titles = {kind: KIND_TITLES[kind] for kind in kinds}
        row = st.columns([1.3, 3.2], vertical_alignment="bottom", gap="small")
        with row[0]:
            kind = self.select(f"{name}_kind", title, titles)
        begin = usual(kind, float(self.default(name, about) or about))
        form: Form = {"kind": kind}
        parts = row[1].columns(len(kinds[kind]), vertical_alignment="bottom", gap="small")
        for part, column in zip(kinds[kind], parts, strict=True):
            key, part_title = f"{name}_{part}", TITLES.get(part, title)
            read = self.whole if is_length and part in ("value", "low", "high") else self.number
            with column:
                if part in TEXTS:
                    form[part] = self.text(key, part_title, placeholder=TEXTS[part])
                elif part == "value":  # the kind beside it shows the same title already
                    form[part] = read(name, title, begin[part], label_visibility="collapsed")
                else:
                    form[part] = read(key, part_title, begin.get(part))
        return form

    def _begin(self, name: str, titles: Mapping[str, str], otherwise: str | None) -> str:
        """What a choice begins with: the URL's name (or title), the plan's, `otherwise`, the first.

        What the URL asks for in vain is said.
        """
        key = self.key(name)
        begin = self.default(name, otherwise)
        begin = begin if begin in titles else next(iter(titles))
        asked = st.query_params.get(key)
        if key in st.session_state:
            return begin
        st.session_state.pop(f"unknown_{key}", None)
        if asked is None:
            return begin
        by_title = {title: name for name, title in titles.items()}
        if found := asked if asked in titles else by_title.get(asked):
            st.session_state[key] = found
        else:
            known = ", ".join(titles)
            st.session_state[f"unknown_{key}"] = f"?{key}={asked} is none of {known}."
        return begin

    def _kept(self, name: str, chosen: str, begin: str) -> str:
        """The choice, once the URL says it."""
        key = self.key(name)
        if said := st.session_state.get(f"unknown_{key}"):
            st.markdown(f":orange[:material/warning: {label(said, 300)}]")
        if chosen != begin:
            st.session_state.pop(f"unknown_{key}", None)
            st.query_params[key] = chosen
        elif key in st.query_params:
            del st.query_params[key]
        return chosen


TITLES = {
    "low": "From",
    "high": "To",
    "mean": "Mean",
    "sd": "Standard deviation",
    "median": "Median",
    "sigma": "Sigma",
    "path": "File",
    "column": "Column",
}
TEXTS = {"path": "one number per line, on this machine", "column": "none"}
