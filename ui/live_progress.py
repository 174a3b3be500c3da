"""How far a run under way is: level, what it is for, what a search has found, the time left."""

from typing import Any

from analysis.search_so_far import so_far
from ui.plain import seconds

Json = dict[str, Any]


def progress(status: Json, level: Json | None, now_us: int) -> tuple[float, str]:
    """(share done, words).  level: its row of stages.jsonl; now_us: on the run's time line.

    Where nobody knows how many levels there will be, the share is that of the present one.
    """
    n_levels = status["n_stages"]  # None while that depends on what the levels show
    where = f"Level {status['stage'] + 1}{f' of {n_levels}' if n_levels else ''}"
    if name := (level or status).get("name") or status.get("stage_name"):
        where += f" ({name})"
    if why := (level or {}).get("why"):
        where += f", {why}"
    told = [where, *filter(None, [so_far(status.get("search") or [])])]
    share, time_words = _time(status, now_us)
    return share, " · ".join([*told, time_words])


def _time(status: Json, now_us: int) -> tuple[float, str]:
    n_levels, elapsed_s = status["n_stages"], status.get("elapsed_s") or 0.0
    if planned_s := status.get("planned_s"):
        left_s = max(0.0, planned_s - elapsed_s)
        return min(1.0, elapsed_s / planned_s), f"{seconds(left_s)} left of {seconds(planned_s)}"
    if n_levels:
        return status["stage"] / n_levels, f"{seconds(elapsed_s)} so far"
    level_s = max(0.0, (now_us - (status.get("stage_began_us") or now_us)) / 1e6)
    if most_s := status.get("stage_seconds"):
        share = min(1.0, level_s / most_s)
        return share, f"{seconds(min(level_s, most_s))} of at most {seconds(most_s)}"
    return 0.0, f"{seconds(level_s)} so far"
