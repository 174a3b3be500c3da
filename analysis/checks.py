"""Four questions about a level's window, each answered in a sentence: still, and adding up?

What does not hold is a warning too (remarks.py); what cannot be judged says why.
"""

from dataclasses import dataclass, field
from typing import Any

from analysis import throughput
from analysis.drift import TREND_P, drift
from analysis.frames import is_in, where, words
from analysis.per_request import ttft_ms
from analysis.reading import StageReading
from analysis.windows import arrived_us

RUN_OFF = "Run-off"
NOT_STEADY = "Not steady"  # how the sentence on a trend begins
NO_TIMES = "Not judged: that takes the times at which requests were sent."
NO_REQUESTS = "Not judged: the imported file has no single requests."


@dataclass(frozen=True, slots=True)
class Check:
    """holds: None where the data cannot tell; figures: the numbers behind the sentence."""

    title: str
    holds: bool | None
    sentence: str
    figures: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """As `show --json` writes it."""
        told = {"title": self.title, "holds": self.holds, "sentence": self.sentence}
        return told | self.figures


def checks(stage: StageReading) -> dict[str, Check]:
    """drift, offered, littles_law, run_off: of the window, or of the level where that is said."""
    made = {
        "drift": ("Steady", _drift),
        "offered": ("Offered against completed", _offered),
        "littles_law": ("Little's law", _littles_law),
    }
    if not stage.is_told:
        titles = {name: title for name, (title, _) in made.items()} | {"run_off": RUN_OFF}
        return {name: Check(title, None, NO_REQUESTS) for name, title in titles.items()}
    found = {
        name: Check(title, None, NO_TIMES) if not stage.window.has_times else make(title, stage)
        for name, (title, make) in made.items()
    }
    return found | {"run_off": _run_off(RUN_OFF, stage)}


def together(shown: dict[str, Any]) -> list[tuple[list[str], bool | None, str]]:
    """(titles, holds, sentence): checks as `show --json` has them, those of one sentence as one."""
    found: dict[tuple[bool | None, str], list[str]] = {}
    for check in shown.values():
        found.setdefault((check["holds"], check["sentence"]), []).append(check["title"])
    return [(titles, holds, sentence) for (holds, sentence), titles in found.items()]


def _drift(title: str, stage: StageReading) -> Check:
    answered = stage.cohort.complete
    trend = drift(arrived_us(answered), ttft_ms(answered))
    if trend is None:
        why = "Not judged: a trend of TTFT needs 20 answers that are not all alike."
        return Check(title, None, why)
    figures = {"change_share": trend.change_share, "p_value": trend.p_value}
    if trend.is_drift:
        way = "rises" if trend.change_share > 0 else "falls"
        said = (
            f"{NOT_STEADY}: TTFT {way} by {abs(trend.change_share):.0%} over the window "
            "(overload or warming)."
        )
        return Check(title, False, said, figures)
    why = "which may be chance" if trend.p_value >= TREND_P else "too little to matter"
    said = (
        f"No drift of TTFT is shown: {trend.change_share:+.1%} over the window, {why} "
        f"(Mann-Kendall p = {trend.p_value:.2g})."
    )
    return Check(title, True, said, figures)


def _offered(title: str, stage: StageReading) -> Check:
    offered = throughput.offered_rate(stage.requests, stage.window)
    done = throughput.request_rate(stage.requests, stage.window)
    failed, came = throughput.failed_of(stage.requests, stage.window)
    figures = {"offered_per_s": offered, "completed_per_s": done, "failed": failed, "came": came}
    if stage.kind != "open":
        said = (
            f"{offered:.3g} requests/s were sent, {done:.3g}/s were completed; a closed loop sends "
            "no more than it gets answered."
        )
        return Check(title, None, said, figures)
    both = f"{offered:.3g} requests/s came, {done:.3g}/s were completed"
    lost = f"{failed:,} of {came:,} requests failed"
    why = throughput.shortfall(stage.requests, stage.window)
    if why is None:
        return Check(title, True, f"{both}: it keeps up{f'; {lost}' if failed else ''}.", figures)
    said = f"Overload: {both}{f'; {lost}' if failed else ''}."
    return Check(title, False, said if why == "overload" else f"{both}: {lost}.", figures)


def _littles_law(title: str, stage: StageReading) -> Check:
    law = throughput.littles_law(stage.requests, stage.window)
    if law is None:
        return Check(title, None, "Not judged: no request ended within the window.")
    figures = {
        "mean_in_flight": law.mean_in_flight,
        "rate_x_residence": law.rate_x_residence,
        "difference_share": law.difference_share,
    }
    both = f"{law.mean_in_flight:.1f} in flight, {law.rate_x_residence:.1f} from rate × residence"
    if law.is_ok:
        said = f"Little's law holds: {both} ({round(law.difference_share, 3) + 0.0:+.1%})."
        return Check(title, True, said, figures)
    why = "rates of a window this short are coarse" if stage.window.short else "rows may be missing"
    said = f"Little's law is off by {law.difference_share:+.0%}: {both}; {why}."
    return Check(title, False, said, figures)


def _run_off(title: str, stage: StageReading) -> Check:
    """Requests of the window that were still open when we ended the level: censored."""
    n, of = stage.cohort.censored, len(stage.cohort.arrived)
    figures = {"censored": n, "arrived": of}
    who = "the tool" if stage.is_foreign else "us"
    if not n:
        return Check(title, True, f"No stream of the window was cut off by {who}.", figures)
    ended = "1 stream was" if n == 1 else f"{n:,} streams were"
    said = f"{ended} ended by {who}{_why_cancelled(stage)}; in no latency."
    return Check(title, False, said, figures)


def _why_cancelled(stage: StageReading) -> str:
    """The most frequent reason for which we ended a stream, in brackets; "" if none was noted."""
    arrived = stage.cohort.arrived
    told = [d for d in words(where(arrived, is_in(arrived, "outcome", "cancelled")), "detail") if d]
    return f" ({max(set(told), key=told.count)})" if told else ""
