"""Can this endpoint be measured?  One short streamed request, sent as a run would send it."""

from typing import Any, Literal

from loadgen.check import check
from loadgen.crew import CrewError
from loadgen.doctor import Finding
from loadgen.explain_words import headline, summary
from loadgen.plan import Plan, PlanError

LEVELS: dict[str, Literal["ok", "warn", "bad"]] = {"green": "ok", "orange": "warn", "red": "bad"}


def explained(plan: Plan) -> dict[str, Any]:
    """The check of the plan's target as a dict; what kept it from being sent is told in it too."""
    try:
        return check(plan).to_dict()
    except (PlanError, CrewError) as error:
        return {"ok": False, "sentence": str(error)}


def endpoint(said: dict[str, Any]) -> Finding:
    """An explanation as one of the doctor's findings."""
    tone, words = headline(said)
    return Finding("endpoint", LEVELS[tone], f"{words}. {summary(said)}")
