"""What is said of requests that failed, and of a run of which no answer was measured."""

from typing import Any

Json = dict[str, Any]
ONLY_SUMMARY = (
    "The imported file holds its tool's summary only: no request of it can be computed with."
)


def failures_of(shown: Json) -> str:
    """Failures named by kind with the most frequent text; "" when there are none."""
    outcomes: dict[str, int] = shown["outcomes"]
    kinds = {k: n for k, n in outcomes.items() if k not in ("complete", "cancelled")}
    if not kinds:
        return ""
    total = sum(outcomes.values()) - outcomes.get("cancelled", 0)
    named = ", ".join(f"{n:,} {k}" for k, n in sorted(kinds.items(), key=lambda kn: -kn[1]))
    detail = next((f["detail"] for f in shown["failures"] if f["detail"]), "")
    text = f" ({detail[:200]})" if detail else ""
    return f"{sum(kinds.values()):,} of {total:,} requests failed: {named}{text}."


def nothing_of(outcomes: dict[str, int]) -> str:
    """Why a run without failures shows no figure."""
    if n := outcomes.get("complete"):
        return f"No answer was measured: all {n:,} were asked for in the warm-up, or at its edges."
    if n := outcomes.get("cancelled"):
        return f"No request was answered: {n:,} were open when the run ended."
    return "No request was sent."
