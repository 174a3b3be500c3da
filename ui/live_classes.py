"""Each class of traffic while a run goes on, where the plan has several."""

from dataclasses import dataclass

from ui.live_feed import LiveLines
from ui.live_view import NO_FAILURE, pooled_quantile_ms


@dataclass(frozen=True, slots=True)
class LiveClass:
    """One class: answers since the run began, first tokens of the last LATENCY_S seconds."""

    name: str
    complete: int
    failed: int
    not_sent: int
    ttft_p95_ms: float | None
    ttft_sched_p95_ms: float | None  # None in closed loop


def live_classes(live: LiveLines, now_s: float) -> list[LiveClass]:
    """By name; empty for a plan without classes.  now_s: of the charts' last point."""
    return [
        LiveClass(
            name,
            complete=outcomes["complete"],
            failed=sum(n for outcome, n in outcomes.items() if outcome not in NO_FAILURE),
            not_sent=outcomes["not_sent"],
            ttft_p95_ms=pooled_quantile_ms(live, ("classes", name, "ttft"), now_s, 0.95),
            ttft_sched_p95_ms=pooled_quantile_ms(
                live, ("classes", name, "ttft_sched"), now_s, 0.95
            ),
        )
        for name, outcomes in sorted(live.classes.items())
    ]
