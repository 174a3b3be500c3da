"""What the search or sweep under way has found so far, in a few words for a line of progress."""

from typing import Any

Json = dict[str, Any]
_UNITS = {"concurrency": ("stream", "streams"), "rate_per_s": ("request/s", "requests/s")}


def so_far(answers: list[Json]) -> str:
    """`holds at 8, fails at 16 streams so far`; "" while nothing is known, or if it is over.

    answers: status.json's key `search`.
    """
    if not answers or answers[-1].get("is_done", True):
        return ""
    answer = answers[-1]
    found = _limits(answer) if answer.get("kind") == "search" else _best(answer)
    return f"{found} so far" if found else ""


def _limits(answer: Json) -> str:
    """The largest load that holds and the smallest that fails."""
    known = [("holds at", answer["low"]), ("fails at", answer["high"])]
    said = [(words, value) for words, value in known if value is not None]
    if not said:
        return "nothing is clear" if answer["probes"] else ""
    figures = ", ".join(f"{words} {value:,g}" for words, value in said)
    return f"{figures} {_unit(said[-1][1], answer['over'])}"


def _best(answer: Json) -> str:
    """The most throughput of a sweep by doubling."""
    known = [(rate, load) for load, rate in answer["tokens_per_s"] if rate is not None]
    if not known:
        return ""
    rate, load = max(known)
    return f"most tokens/s: {rate:,.0f} at {load:,g} {_unit(load, answer['over'])}"


def _unit(value: float, over: str) -> str:
    one, many = _UNITS[over]
    return one if value == 1 else many
