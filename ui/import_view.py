"""Result files of other tools on the Runs page: chosen, read, and what they gave in sentences."""

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import streamlit as st

from loadgen.run_folder import data_folder
from storage.client import Store
from storage.exchange.importing import Imported, import_file
from storage.exchange.removed import removed_here
from storage.exchange.source import ImportProblem
from ui import page_files
from ui.guard import guard
from ui.plain import label

MOST_MB = 500
KNOWN = "vLLM bench, GuideLLM, AIPerf, SGLang, llmperf, inference-perf"
FILES_KEY, SHOWN_KEY = "import_files", "import_shown"


class Upload(Protocol):
    """A file as the browser sent it."""

    name: str

    def getvalue(self) -> bytes:
        """All its bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Read:
    """What came of some files: runs, each once, and a sentence for each file that gave none."""

    runs: list[Imported]
    problems: list[str]


def import_popover() -> None:
    """A button that opens the choice of files, and below it what the last ones gave."""
    with st.popover("Import", icon=":material/upload_file:", width="content"), guard():
        files = st.file_uploader(
            "Result files of other tools",
            accept_multiple_files=True,
            max_upload_size=MOST_MB,
            key=FILES_KEY,
            help=f"{KNOWN}: told by what is in a file. Files that belong together go together.",
        )
        if st.button("Import", type="primary", disabled=not files, key="import_now"):
            st.session_state[SHOWN_KEY] = import_uploads(files, data_folder())
        _show(st.session_state.get(SHOWN_KEY))


def import_uploads(files: Sequence[Upload], data: Path) -> Read:
    """The runs of uploaded files; those of a pair find each other by their names."""
    runs: dict[str, Imported] = {}
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="headway-import-") as folder:
        paths = [Path(folder) / (Path(file.name).name or "file") for file in files]
        for path, file in zip(paths, files, strict=True):
            path.write_bytes(file.getvalue())
        for path in dict.fromkeys(paths):
            try:
                found = import_file(path, data)
            except ImportProblem as problem:
                problems.append(str(problem))
                continue
            for run in found:
                if run.run_uid not in runs:  # the second file of a pair brings the same run
                    runs[run.run_uid] = run if run.is_new else _with_loss(run, data)
    return Read([*runs.values()], problems)


def _with_loss(run: Imported, data: Path) -> Imported:
    with contextlib.closing(Store.connect(data)) as store:
        gone = removed_here(store.ask_arrow, run.run_uid)
    return replace(run, sentence=f"{run.sentence} {gone}".rstrip())


def _show(read: Read | None) -> None:
    if read is None:
        return
    for problem in read.problems:
        st.markdown(f":red[:material/error: {label(problem, 300)}]")
    for run in read.runs:
        st.text(run.sentence)
        st.page_link(
            page_files.RUN,
            label=label(run.name, 60),
            icon=":material/monitoring:",
            query_params={"run": run.run_uid},
        )
