"""Tiles of one load level: each number with its interval, its n and its formula."""

from dataclasses import replace
from typing import Any

from analysis.metrics import METRICS
from analysis.quantiles import is_thin, thin_below
from ui.card import Tile
from ui.plain import DASH, label, ms, number

Json = dict[str, Any]
OF_ANSWERS = "tokens of all answers"


def level_tiles(level: Json) -> list[Tile]:
    """What a reader asks first of a level: first token, gaps, throughput, how many got it."""
    metrics: Json = level["metrics"]
    if is_whole(level):
        return _whole_tiles(level)
    gap = "itl" if metrics["itl"]["n"] else "chunk_gap"
    return [
        *(_first_token_tile(p, level) for p in ("p50", "p95", "p99")),
        percentile_tile("ITL p99" if gap == "itl" else "Chunk gap p99", metrics, (gap, "p99")),
        _throughput_tile(metrics),
        _requests_tile(level),
    ]


def _first_token_tile(p: str, level: Json) -> Tile:
    """TTFT from send; in open loop from schedule, with that from send beside it."""
    metrics: Json = level["metrics"]
    if level["kind"] != "open" or not metrics["ttft_sched"]["n"]:
        return percentile_tile(f"TTFT {p}", metrics, ("ttft", p))
    tile = percentile_tile(f"TTFT {p} from schedule", metrics, ("ttft_sched", p))
    return replace(tile, note=f"{ms(metrics['ttft'][p])} from send · {tile.note}")


def is_whole(level: Json) -> bool:
    """Whether all that came were answers in one piece, which have an end but no first token."""
    return not level["metrics"]["ttft"]["n"] and bool(level["metrics"]["e2e"]["n"])


def _whole_tiles(level: Json) -> list[Tile]:
    """Of answers in one piece: when they ended, and what the server took in meanwhile."""
    metrics: Json = level["metrics"]
    ends = [percentile_tile(f"E2E {p}", metrics, ("e2e", p)) for p in ("p50", "p95", "p99")]
    taken_in = metrics["tps_input"]
    if taken_in["value"] is not None:
        value, helped = f"{number(taken_in['value'])} tok/s", _help("tps_input", taken_in)
        ends.append(Tile("System input", value, "prompt tokens", helped))
    return [*ends, _requests_tile(level)]


def percentile_tile(title: str, metrics: Json, of: tuple[str, str]) -> Tile:
    """One percentile of METRICS[name]; too few requests for an upper bound is said, not hidden."""
    name, p = of
    found = metrics[name]
    note = _counted(found["n"], float(p[1:]) / 100) if found["n"] else found.get("reason", "")
    if name == "itl" and found["n"] and found["undefined"]:
        note += f", {found['undefined']:,} undefined"
    if "within" in found:
        note += f", within {found['within']:.0%}"
    if bounds := found["ci95"].get(p):
        note = f"{_interval(bounds)} · {note}"
    elif need := found.get("need_n", {}).get(p):
        note = f"{note}, interval needs {need:,}"
    helped = _help(name, found) + _worth(found, p) + _few(found["n"], float(p[1:]) / 100)
    return Tile(title, ms(found[p]), note, helped)


def _worth(found: Json, p: str) -> str:
    """As how many independent samples the interval counts them, where those are fewer; and why."""
    n_eff = found.get("n_eff", {}).get(p)
    if n_eff is None:
        return ""
    return f"\n\nn_eff = {n_eff:,} of {found['n']:,}. {label(found['n_eff_reason'], 400)}"


def _few(n: int, p: float) -> str:
    need = f"\n\nFew: less than one is expected beyond it; it needs n = {thin_below(p):,}."
    return need if n and is_thin(n, p) else ""


def _counted(n: int, p: float) -> str:
    """How many samples; said to be few where less than one is expected beyond the percentile."""
    return f"few: n = {n:,}" if is_thin(n, p) else f"n = {n:,}"


def _help(name: str, found: Json) -> str:
    """The formula, and what must be known of this number; our own words only."""
    interval = "The range below is its 95 % interval." if found.get("ci95") else ""
    told = (METRICS[name].formula, interval, found.get("ci95_by"))
    told += (found.get("ci95_reason"), found.get("note"))
    return "\n\n".join(label(text, 400) for text in told if text)


def _interval(bounds: list[float | None]) -> str:
    low, high = bounds
    if low is None and high is None:
        return "no interval"
    if high is None:
        return f"≥ {number(low)}"
    return f"≤ {number(high)}" if low is None else f"{number(low)} – {number(high)}"


def _throughput_tile(metrics: Json) -> Tile:
    found = metrics["tps_system"]
    value = f"{number(found['value'])} tok/s" if found["value"] is not None else DASH
    note = OF_ANSWERS if found["n"] is None else f"n = {found['n']:,} chunks"
    if found["value"] is None:
        note = found["reason"]
    elif found["ci95"]:
        note = f"{_interval(found['ci95'])} · {note}"
    return Tile("System output", value, note, _help("tps_system", found))


def _judged_by(seconds: float | None) -> str:
    if seconds is None:
        return "Requests of the whole level: nobody knows when they were sent."
    return f"Requests that arrived within the {number(seconds)} s this level is judged by."


def _requests_tile(level: Json) -> Tile:
    outcomes: dict[str, int] = level["outcomes"]
    complete = outcomes.get("complete", 0)
    failed = sum(n for kind, n in outcomes.items() if kind not in ("complete", "cancelled"))
    rate = level["metrics"]["request_rate"]["value"]
    note = f"{number(rate)} per second" if rate is not None else ""
    if failed:
        note = f"{failed:,} of {sum(outcomes.values()):,} failed"
    return Tile(
        "Requests complete",
        DASH if level.get("requests", 0) is None else f"{complete:,}",
        note,
        _judged_by(level["window_s"]),
    )
