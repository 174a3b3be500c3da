"""What a reader must be told beside the numbers of a level, one sentence each."""

import numpy as np

from analysis import throughput
from analysis.drift import drift
from analysis.frames import floats, is_in, where, words
from analysis.per_request import ttft_ms
from analysis.reading import StageReading
from analysis.windows import arrived_us

NOT_STEADY = "Not steady"  # how the sentence on a trend begins


def remarks(stage: StageReading) -> list[str]:
    """Sentences a reader must see beside the numbers of this level."""
    said: list[str] = []
    window, answered = stage.window, stage.cohort.complete
    trend = drift(arrived_us(answered), ttft_ms(answered))
    if trend and trend.is_drift:
        way = "rises" if trend.change_share > 0 else "falls"
        said.append(
            f"{NOT_STEADY}: TTFT {way} by {abs(trend.change_share):.0%} over the window "
            "(overload or warming)."
        )
    if stage.kind == "open" and throughput.is_overloaded(stage.requests, window):
        offered = throughput.offered_rate(stage.requests, window)
        done = throughput.request_rate(stage.requests, window)
        said.append(f"Overload: {offered:.3g} requests/s came, {done:.3g}/s were completed.")
    law = throughput.littles_law(stage.requests, window)
    if law and not law.is_ok:
        why = "rates of a window this short are coarse" if window.short else "rows may be missing"
        said.append(
            f"Little's law is off by {law.difference_share:+.0%}: {law.mean_in_flight:.1f} in "
            f"flight, {law.rate_x_residence:.1f} from rate × residence; {why}."
        )
    if stage.cohort.censored:
        why = _why_cancelled(stage)
        n = stage.cohort.censored
        ended = "1 stream was" if n == 1 else f"{n:,} streams were"
        said.append(f"{ended} ended by us{why}; not counted anywhere.")
    n_sources = {s for s in words(answered, "token_source") if s}
    if len(n_sources) > 1:
        said.append(f"Token counts come from different sources: {', '.join(sorted(n_sources))}.")
    if np.isnan(floats(answered, "output_tokens")).any():
        said.append("Some answers do not tell their output tokens; TPOT and TPS leave them out.")
    return said


def _why_cancelled(stage: StageReading) -> str:
    """The most frequent reason for which we ended a stream, in brackets; "" if none was noted."""
    arrived = stage.cohort.arrived
    told = [d for d in words(where(arrived, is_in(arrived, "outcome", "cancelled")), "detail") if d]
    return f" ({max(set(told), key=told.count)})" if told else ""
