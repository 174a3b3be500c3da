"""Which runs may be believed: worked out once when nothing is measured, kept in the run's folder.

The list of runs shows numbers of each run, and reading all their events there would take seconds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from loadgen.run_folder import RunFolder, runs_folder

FILE = "judged.json"
Ask = Callable[..., pd.DataFrame]


def verdict_of(data: Path, run: Any) -> str | None:
    """exact, bounded, saturated or unknown; None if it was not judged as it is now.

    run: a row of the store's `runs`.
    """
    told = RunFolder(runs_folder(data) / str(run["run_uid"])).read(FILE)
    return told["verdict"] if told and told.get("of") == _as_it_is(run) else None


def judge_newest(data: Path, ask: Ask) -> str | None:
    """Judge the newest run that is over and was not judged; its uid, None if all were."""
    from analysis.show import show  # scipy takes more than a second

    runs = ask("runs")
    for _, run in runs[runs["is_final"].astype(bool)].iterrows():
        folder = RunFolder(runs_folder(data) / str(run["run_uid"]))
        if folder.path.is_dir() and verdict_of(data, run) is None:
            found = show(ask, folder.run_uid)["validity"]
            folder.write(FILE, {"verdict": found["verdict"], "of": _as_it_is(run)})
            return folder.run_uid
    return None


def _as_it_is(run: Any) -> str:
    """What changes when a segment that came late opens a run again."""
    return f"{run['n_requests']} {run['output_tokens']}"
