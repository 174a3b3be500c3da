"""What pages about one run share: which run the URL names, its head line, the way to its pages."""

import json
import re
from pathlib import Path
from typing import Any

import streamlit as st

from loadgen.plan import PlanError, parse
from loadgen.run_folder import RunFolder, runs_folder
from ui import page_files
from ui.card import verdict
from ui.data import ask
from ui.guard import guard, say
from ui.plain import label
from ui.run_text import STATES, plan_labels

NOT_VERIFIED = "certificate not verified"
UID = re.compile(r"[0-9a-f-]{8,36}")  # nothing else may become part of a path


def has_folder(data: Path, uid: str) -> bool:
    """Whether the run was started here, also if the store does not know it yet."""
    return bool(UID.fullmatch(uid)) and (runs_folder(data) / uid / "plan.json").is_file()


def folder_named(data: Path, uid: str) -> RunFolder | None:
    """The run's folder; None after saying that there is none."""
    if has_folder(data, uid):
        return RunFolder(runs_folder(data) / uid)
    say(f"There is no run {uid[:40]!r} in {runs_folder(data)}; the list of runs has them all.")
    st.page_link(page_files.RUNS, label="All runs", icon=":material/stacks:")
    return None


def plan_of(raw: Any) -> dict[str, Any] | None:
    """A stored plan with every field filled in; None if this version of Headway cannot read it."""
    try:
        return parse(raw if isinstance(raw, dict) else json.loads(raw)).model_dump(mode="json")
    except (PlanError, TypeError, ValueError):
        return None


def badges(plan: dict[str, Any]) -> None:
    """What run_text.plan_labels says of a plan, in grey; an unverified server in red."""
    with st.container(horizontal=True, gap="xsmall"):
        for icon, text in plan_labels(plan):
            st.badge(label(text, 60), icon=f":material/{icon}:", color="gray")
        if not plan["target"]["verify_tls"]:
            st.badge(NOT_VERIFIED, icon=":material/gpp_bad:", color="red")


def wait_for_the_end(run: dict[str, Any]) -> None:
    """Instead of results: what a run that has not ended is doing; the page follows by itself."""
    tone, word = STATES[run["state"]]
    verdict(tone, word, run["message"] or "The last tokens are being stored.")
    st.page_link(
        page_files.LIVE,
        label="Watch it live",
        icon=":material/monitoring:",
        query_params={"run": run["run_uid"]},
    )
    st.fragment(_rerun_when_changed, run_every=1)(run["run_uid"], run["state"])


def wait_until_known(uid: str) -> None:
    """Instead of results: the store has only just been started; the page follows by itself."""
    verdict("blue", "Reading the run", "The store is taking it in.")
    st.fragment(_rerun_when_known, run_every=1)(uid)


def _rerun_when_known(uid: str) -> None:
    with guard():
        if not ask("find_run", text=uid).empty:
            st.rerun()


def _rerun_when_changed(uid: str, state: str) -> None:
    with guard():
        now = ask("run", run=uid)
        if now.empty or now["state"].iloc[0] != state:
            st.rerun()
