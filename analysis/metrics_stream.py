"""Entries of METRICS per request: how evenly its answer came, by its row of `request_gaps`."""

from analysis import per_request_stream as of
from analysis.metric import Metric
from analysis.metrics_gap import STALLS_MS

_NO_GAPS = "fewer than two chunks, or the times of single chunks are not known"
_FEW_GAPS = f"fewer than {of.FEWEST_CHUNKS} chunks, or the times of single chunks are not known"
_ENOUGH = f"n_gaps >= {of.FEWEST_CHUNKS - 1}"


def _stalled(limit_ms: int) -> Metric:
    return Metric(
        name=f"stalled_{limit_ms}",
        title=f"Total stalled time over {limit_ms:,} ms",
        unit="ms",
        better="lower",
        per="request",
        formula=f"sum of what each chunk gap of the request had above {limit_ms:,} ms",
        sql=f"stalled_{limit_ms}_us / 1e3",
        undefined_when=_NO_GAPS,
        source="Headway",
        values=of.stalled_ms(limit_ms),
    )


STREAM = (
    Metric(
        name="longest_gap",
        title="Longest gap",
        unit="ms",
        better="lower",
        per="request",
        formula="the longest chunk gap of the request: its worst stall",
        sql="longest_gap_us / 1e3",
        undefined_when=_NO_GAPS,
        source="Headway",
        values=of.longest_gap_ms,
        is_headline=True,
        is_objective=True,
    ),
    *map(_stalled, STALLS_MS),
    Metric(
        name="jitter",
        title="Jitter",
        unit="ms",
        better="lower",
        per="request",
        formula="p95 − p50 of the request's chunk gaps",
        sql=f"CASE WHEN {_ENOUGH} THEN (gap_p95_us - gap_p50_us)::DOUBLE / 1e3 END",
        undefined_when=_FEW_GAPS,
        source="Headway",
        values=of.jitter_ms,
    ),
    Metric(
        name="gap_iqr",
        title="Gaps' interquartile range",
        unit="ms",
        better="lower",
        per="request",
        formula="p75 − p25 of the request's chunk gaps",
        sql=f"CASE WHEN {_ENOUGH} THEN (gap_p75_us - gap_p25_us)::DOUBLE / 1e3 END",
        undefined_when=_FEW_GAPS,
        source="Headway",
        values=of.gap_iqr_ms,
    ),
    Metric(
        name="gap_cv",
        title="Gaps' coefficient of variation",
        unit="σ/μ",
        better="lower",
        per="request",
        formula=(
            "standard deviation ÷ mean of the request's chunk gaps; a few stalls dominate it, so "
            "it never stands in front"
        ),
        sql=f"CASE WHEN {_ENOUGH} AND gap_mean_us > 0 THEN gap_sd_us::DOUBLE / gap_mean_us END",
        undefined_when=f"{_FEW_GAPS}, or the gaps' mean is 0",
        source="Headway",
        values=of.gap_cv,
    ),
    Metric(
        name="smoothness",
        title="Smoothness for a reader",
        unit="%",
        better="higher",
        per="request",
        formula=(
            f"1 − paused ÷ (last_token − first_token + paused), of a reader who takes "
            f"{of.READING_TPS} tokens a second from the first token on and pauses when nothing is "
            "there; 100 %: never"
        ),
        sql=(
            "CASE WHEN last_token_us - first_token_us + paused_us > 0 THEN 100.0 * "
            "(1 - paused_us::DOUBLE / (last_token_us - first_token_us + paused_us)) END"
        ),
        undefined_when=f"{_NO_GAPS}, or all chunks came at one instant",
        source="Headway, no standard; where counts are not told each chunk is one token",
        values=of.smoothness,
    ),
)
