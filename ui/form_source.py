"""What the New run page begins with: presets in a row, a plan file, an earlier run (?from=RUN)."""

import json
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from loadgen.run_folder import RunFolder, data_folder, runs_folder
from ui.data import ask
from ui.form_widgets import Fields
from ui.plain import label
from ui.plan_source import Source, broken, from_file, from_plan, from_preset
from ui.presets import FIRST_PRESET, PRESETS
from ui.run_pages import has_folder

SHOWN = "form_source"  # key of the source that the widgets of this tab were last filled in from
UPLOADS = "n_uploads"  # part of the uploader's key: another one is an empty uploader


def upload() -> Source | None:
    """A plan file of the reader's own."""
    number = st.session_state.get(UPLOADS, 0)
    with st.popover("Open a plan", icon=":material/upload_file:"):
        file = st.file_uploader(
            "plan.toml or plan.json",
            ["toml", "json"],
            key=f"plan_file_{number}",
            help="As this page and `headway run` write and take them.",
        )
    return None if file is None else from_file(file.name, file.getvalue())


def asked_source(uploaded: Source | None) -> Source:
    """The file, else the run of ?from=, else the preset of ?preset=; fills the form if it changed.

    What stands in the URL beside it wins: the address of a changed form brings the change back.
    """
    uid = st.query_params.get("from")
    name = st.query_params.get("preset", FIRST_PRESET)
    if uploaded:
        source = uploaded
    elif uid:
        source = _from_run(uid)
    else:
        source = from_preset(name if name in PRESETS else FIRST_PRESET)
    _fill(source)
    is_preset = not (uploaded or uid)
    st.session_state["preset_pill"] = source.key.removeprefix("preset:") if is_preset else None
    st.pills(
        "Begin with what your users do",
        list(PRESETS),
        format_func=lambda name: PRESETS[name].title,
        key="preset_pill",
        on_change=_preset_chosen,
    )
    if name not in PRESETS and is_preset:
        known = ", ".join(PRESETS)
        st.markdown(f":orange[?preset={label(name, 60)} is none of {label(known, 200)}.]")
    return source


def _preset_chosen() -> None:
    """A click on a preset, also on the chosen one: it is filled in anew."""
    name = st.session_state["preset_pill"] or st.query_params.get("preset", FIRST_PRESET)
    st.query_params.pop("from", None)
    st.query_params["preset"] = name
    st.session_state[UPLOADS] = st.session_state.get(UPLOADS, 0) + 1
    st.session_state[SHOWN] = "none"


def _from_run(uid: str) -> Source:
    """The plan of a run; its folder knows it before the store does."""
    data = data_folder()
    if has_folder(data, uid):
        text = (RunFolder(runs_folder(data) / uid).path / "plan.json").read_text()
        raw = json.loads(text)
        return from_plan(f"run {raw.get('name', uid)}", raw)
    found = ask("find_run", text=uid)
    if found.empty:
        return broken(f"run {uid[:60]}", [f"There is no run {uid[:60]!r} in this data folder."])
    run = ask("run", run=found["run_uid"].iloc[0]).iloc[0]
    try:
        return from_plan(f"run {run['name']}", json.loads(run["plan"]))
    except (TypeError, ValueError):
        return broken(f"run {run['name']}", ["It was imported, and its plan is not one of ours."])


def _fill(source: Source) -> None:
    """Widgets that are there take the new source's values; those that come later begin with them.

    On the page's first run there are none, and nothing is to be done.
    """
    before = st.session_state.get(SHOWN)
    st.session_state[SHOWN] = source.key
    if before in (None, source.key):
        return
    for key in [key for key in st.query_params if key in FORM_COUNTS or key in source.resets]:
        with suppress(StreamlitAPIException):  # bound to a widget, which takes it along
            del st.query_params[key]
    for key in [key for key in st.query_params if key.startswith(PARTS)]:
        with suppress(StreamlitAPIException):
            del st.query_params[key]
    for key, value in source.resets.items():
        if key in st.session_state:
            st.session_state[key] = value


FORM_COUNTS = ("n_class", "n_slo", "n_stage", "n_target")
PARTS = ("class", "slo", "stage", "target")


def show_source(source: Source) -> bool:
    """What the form began with, if not a preset; whether the form is to be shown at all.

    It is not where the plan has more than the form: then the plan runs as it is.
    """
    if source.key.startswith("preset:"):
        st.caption(PRESETS[source.key.removeprefix("preset:")].why)
        return True
    if source.problems:
        with st.container(border=True, key="verdict_red_source", gap="xsmall"):
            st.markdown(f":red[:material/error: **{label(source.title, 100)} gives no plan**]")
            for problem in source.problems[:20]:
                st.text(problem)
        return True
    if not source.only_in_file:
        st.caption(f"Filled in from {label(source.title, 120)}; change what you like.")
        return True
    return _show_only_in_file(source)


def _show_only_in_file(source: Source) -> bool:
    with st.container(border=True, key="verdict_blue_source", gap="xsmall"):
        st.markdown(f":blue[:material/info: **{label(source.title, 100)} runs as it is**]")
        st.text("The form has no field for: " + ", ".join(source.only_in_file[:20]))
        return st.toggle("Fill in the form without them", key=f"without_{source.key}")


def fields_of(source: Source) -> Fields:
    """The widgets, beginning with the source's values."""
    return Fields(source.values)
