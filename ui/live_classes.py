"""Each class of traffic while a run goes on, where the plan has several."""

from dataclasses import dataclass

from ui.live_feed import LiveLines
from ui.live_view import NO_FAILURE, Span, pooled_quantile_ms


@dataclass(frozen=True, slots=True)
class LiveClass:
    """One class: answers since the run began, first tokens of the last seconds."""

    name: str
    complete: int
    failed: int
    not_sent: int
    ttft_p95_ms: float | None
    ttft_sched_p95_ms: float | None  # None in closed loop


def live_classes(live: LiveLines, span_s: Span) -> list[LiveClass]:
    """By name; empty for a plan without classes.  span_s: of the first tokens (recent_span)."""
    return [
        LiveClass(
            name,
            complete=outcomes["complete"],
            failed=sum(n for outcome, n in outcomes.items() if outcome not in NO_FAILURE),
            not_sent=outcomes["not_sent"],
            ttft_p95_ms=pooled_quantile_ms(live, ("classes", name, "ttft"), span_s, 0.95),
            ttft_sched_p95_ms=pooled_quantile_ms(
                live, ("classes", name, "ttft_sched"), span_s, 0.95
            ),
        )
        for name, outcomes in sorted(live.classes.items())
    ]
