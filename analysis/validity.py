"""May these numbers be believed?  One verdict per level and per run, for page, text and exit code.

docs/judging.md has the table.  CPU, loop lateness and collector pauses are reasons in the sentence,
never criteria.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from analysis.frames import floats, where
from analysis.quantiles import percentile
from analysis.windows import Window

Verdict = Literal["exact", "bounded", "saturated", "unknown"]
WORST_LAST: tuple[Verdict, ...] = ("exact", "bounded", "unknown", "saturated")

EXACT_BOUND_MS = 0.1
BOUND_SHARE = 0.05  # of the median chunk gap and of TTFT p50
MISSING_SHARE = 0.001
DISBELIEF = "Do not believe these numbers"
SEND_LAG_SHARE = 0.05  # of TTFT p50; of E2E p50 where answers come in one piece
ADVICE = "run it on a machine of its own, or use more workers (--workers)"
WHAT_TO_DO = f" What to do: {ADVICE}."


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on, over one window; ms.  None = not known (or not defined)."""

    stamps: str  # "kernel", "user", or "" for an imported run
    n_events: int
    n_shared: int
    n_missing: int
    bound_p99_ms: float | None  # of the arrivals; 0 unless events shared a read
    lag_p99_ms: float | None  # read minus arrival; with user-space stamps the loop's lateness
    send_lag_p99_ms: float | None  # open loop only
    ttft_p50_ms: float | None
    chunk_gap_p50_ms: float | None
    tpot_p50_ms: float | None = None  # the pace where most gaps are those within a batch
    e2e_p50_ms: float | None = None
    n_whole: int = 0  # answers in one piece, whose only time is that of their end
    n_whole_missing: int = 0  # of them with a read that has no kernel stamp
    hint: str = ""  # why it may be so, from the pulses


@dataclass(frozen=True, slots=True)
class Validity:
    """A verdict with its one plain sentence."""

    verdict: Verdict
    reason: str


def doubt_ms(seen: Evidence) -> float | None:
    """How much earlier than told arrivals may have come, p99: what the verdict goes by.

    Of answers in one piece, the arrivals of their ends.  None: not recorded, or nothing arrived.
    """
    if seen.n_events:
        return seen.bound_p99_ms if seen.stamps == "kernel" else seen.lag_p99_ms
    if not seen.n_whole:
        return None
    return 0.0 if seen.stamps == "kernel" and not seen.n_whole_missing else seen.lag_p99_ms


def judge(seen: Evidence) -> Validity:
    """The verdict of the table in docs/judging.md for one window."""
    if not seen.stamps:
        return Validity("unknown", "Imported: this run does not tell how its times were taken.")
    if not seen.n_events:
        return _judge_whole(seen)
    error_ms = doubt_ms(seen)
    if error_ms is None:
        return Validity("unknown", "The load generator's own lateness was not recorded.")
    broken = _disbelief(seen, error_ms)
    if broken:
        return Validity("saturated", f"{DISBELIEF}: {broken}.{seen.hint or WHAT_TO_DO}")
    if _is_exact(seen, error_ms):
        doubt = f"in doubt by {_ms(error_ms)}" if error_ms else "not in doubt"
        return Validity(
            "exact", f"Every arrival carries the kernel's own stamp and is {doubt} at p99."
        )
    return Validity("bounded", _bounded(seen, error_ms))


def worst(verdicts: list[tuple[str, Validity]]) -> Validity:
    """The run's verdict: that of its worst level, which the sentence names.

    Levels without a token do not count unless there is nothing else.  verdicts: (level, validity).
    """
    if not verdicts:
        return Validity("unknown", "The run has no level.")
    judged = [v for v in verdicts if v[1].verdict != "unknown"] or verdicts
    name, found = max(judged, key=lambda v: WORST_LAST.index(v[1].verdict))
    if len(verdicts) == 1 or found.verdict in ("exact", "unknown"):
        return found
    return Validity(found.verdict, f"At {name}: {found.reason}")


def hint_of(pulses: pd.DataFrame, window: Window) -> str:
    """What the pulses of the window tell about the load generator's own trouble; "" if nothing."""
    at = floats(pulses, "t_us")
    here = where(pulses, (at >= window.begin_us) & (at < window.end_us))
    told: list[str] = []
    for column, limit, sentence in (
        ("cpu_share", 0.9, "a load worker used {:.0%} of its core"),
        ("hub_late_max_us", 20_000, "the load generator's event loop stalled for {}"),
        ("gc_pause_max_us", 20_000, "its garbage collector paused it for {}"),
    ):
        seen = floats(here, column)
        if not np.isnan(seen).all() and (most := float(np.nanmax(seen))) > limit:
            told.append(sentence.format(_ms(most / 1000) if column.endswith("_us") else most))
    return f" Likely why: {', '.join(told)}; {ADVICE}." if told else ""


def loop_lateness_us(pulses: pd.DataFrame, window: Window) -> float | None:
    """How late the event loop came, p99 of the window's pulses: the error of user-space stamps."""
    at = floats(pulses, "t_us")
    late = floats(pulses, "hub_late_max_us")[(at >= window.begin_us) & (at < window.end_us)]
    return percentile(late, 0.99)


def _judge_whole(seen: Evidence) -> Validity:
    """A level without a token event: answers in one piece have nothing to time but their ends."""
    if not seen.n_whole:
        return Validity("unknown", "No token arrived within the window: there is nothing to judge.")
    error_ms = doubt_ms(seen)
    scale, lag = seen.e2e_p50_ms, seen.send_lag_p99_ms
    if error_ms is None or scale is None:
        return Validity("unknown", "The load generator's own lateness was not recorded.")
    for what, ms in (
        ("requests left {} late", lag),
        ("ends of answers are in doubt by {}", error_ms),
    ):
        if ms is not None and ms > SEND_LAG_SHARE * scale:
            broken = f"{what.format(_ms(ms))} at p99, more than 5 % of the median E2E"
            advice = seen.hint or WHAT_TO_DO
            return Validity("saturated", f"{DISBELIEF}: {broken} of {_ms(scale)}.{advice}")
    if error_ms <= EXACT_BOUND_MS:
        return Validity("exact", "The end of every answer carries the kernel's own stamp.")
    return Validity("bounded", f"Ends of answers are right within {_ms(error_ms)} at p99.")


def _is_exact(seen: Evidence, error_ms: float) -> bool:
    return seen.stamps == "kernel" and not seen.n_missing and error_ms <= EXACT_BOUND_MS


def _disbelief(seen: Evidence, error_ms: float) -> str:
    """Why not to believe, or ""; each clause says what was seen and what would be allowed."""
    if seen.n_missing > MISSING_SHARE * seen.n_events and seen.stamps == "kernel":
        share = seen.n_missing / seen.n_events
        return f"{share:.2%} of the arrivals lack a kernel stamp (at most 0.1 % may)"
    lag, ttft = seen.send_lag_p99_ms, seen.ttft_p50_ms
    if lag is not None and ttft is not None and lag > SEND_LAG_SHARE * ttft:
        return (
            f"requests left {_ms(lag)} late at p99, "
            f"{lag / ttft:.0%} of the median TTFT of {_ms(ttft)} (at most 5 % may)"
        )
    if error_ms <= EXACT_BOUND_MS:
        return ""
    for what, scale in (_pace(seen), ("TTFT", ttft)):
        if scale is not None and error_ms > BOUND_SHARE * scale:
            return (
                f"arrivals are in doubt by {_ms(error_ms)} at p99, more than 5 % of the median "
                f"{what} of {_ms(scale)}"
            )
    return ""


def _pace(seen: Evidence) -> tuple[str, float | None]:
    """What a doubt about gaps is held against; most gaps within a batch are next to nothing."""
    gap, tpot = seen.chunk_gap_p50_ms, seen.tpot_p50_ms
    if gap is not None and tpot is not None and tpot > gap:
        return "time per output token", tpot
    return "chunk gap", gap


def _bounded(seen: Evidence, error_ms: float) -> str:
    if seen.stamps != "kernel":
        why = "stamps were taken in user space, as late as the load generator's loop"
    elif seen.n_missing:
        why = f"{seen.n_missing:,} of {seen.n_events:,} arrivals lack a kernel stamp"
    else:
        why = f"{seen.n_shared / seen.n_events:.2%} of the tokens shared a read with a later one"
    return f"Arrivals are right within {_ms(error_ms)} at p99 ({why})."


def _ms(value: float) -> str:
    return f"{value:.3g} ms" if value < 1000 else f"{value:,.0f} ms"
