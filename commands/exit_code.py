"""What a run's numbers mean to a script."""

from typing import Any

from analysis import searches
from commands.refusal import FAILED, MET, MISSED


def exit_code(document: dict[str, Any]) -> int:
    """0 SLOs met or none given, 1 an SLO missed, 3 failed or not to be believed.

    document: as of analysis.show.  A run that ended early, with a level in which no request was
    complete (other than a probe of a search), with the verdict "saturated" or "unknown", or with
    too little data for one of its SLOs says neither yes nor no: 3.
    """
    if document["run"]["state"] != "finished" or not document["levels"]:
        return FAILED
    if document["validity"]["verdict"] in ("saturated", "unknown"):
        return FAILED
    levels = searches.beside(document.get("search", []), document["levels"])
    if not all(level["outcomes"].get("complete") for level in levels):
        return FAILED
    return {"met": MET, None: MET, "missed": MISSED}.get(document["slo"]["result"], FAILED)
