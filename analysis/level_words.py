"""A load level in a sentence: its name, its streams in flight, its figures."""

from typing import Any

from analysis.level_names import base_name
from analysis.quantiles import is_thin

Json = dict[str, Any]


def named(level: Json) -> str:
    """Its name and the streams measured: `c=4 (4 streams in flight)`, `c=4 (2), 4 streams …`."""
    name, in_flight = str(level["name"]), level["mean_in_flight"]
    if in_flight is None:
        return name
    streams = f"{streams_text(in_flight)} in flight"
    return f"{name}, {streams}" if name.endswith(")") else f"{name} ({streams})"


def at_next(held: Json, level: Json) -> str:
    """Where it goes wrong after `held` went well; said so where both are the same load."""
    is_same = base_name(str(held["stage"])) == base_name(str(level["stage"]))
    return f"at {level['name']}{', the same load measured another time,' if is_same else ''}"


def streams_text(n: float, digits: int = 3) -> str:
    """`1 stream`, `7.93 streams`."""
    figure = f"{n:,.{digits}g}"
    return f"{figure} {'stream' if figure == '1' else 'streams'}"


def figures(level: Json) -> str:
    """Its latency and its tokens per second, as far as there are any."""
    metrics = level["metrics"]
    said = [f"{latency(level)[0]} p95 {p95_of(level)}"]
    if (tps := metrics["tps_system"]["value"]) is not None:
        said.append(f"system output {_tps(tps)} tok/s")
    elif (tps := metrics.get("tps_input", {}).get("value")) is not None:
        said.append(f"system input {_tps(tps)} tok/s")
    return ", ".join(said)


def _tps(value: float) -> str:
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def latency(level: Json) -> tuple[str, Json]:
    """What the level's answers are timed by: TTFT, or E2E where they come in one piece.

    Open loop: from schedule, for waiting for the client or a connection is waiting too.
    """
    metrics: Json = level["metrics"]
    if level["kind"] == "open":
        for name, title in (("ttft_sched", "TTFT"), ("e2e_sched", "E2E")):
            if (found := metrics.get(name)) and found["n"]:
                return f"{title} from schedule", found
    ttft = metrics["ttft"]
    return ("TTFT", ttft) if ttft["n"] else ("E2E", metrics.get("e2e", ttft))


def p95_of(level: Json) -> str:
    """With its n where that is too small to carry it."""
    _, found = latency(level)
    few = f" (few: n = {found['n']:,})" if is_thin(found["n"], 0.95) else ""
    return f"{found['p95']:,.0f} ms{few}"
