"""Loads and lengths of a plan in a few words, as every page says them.  Takes plain values."""

from typing import Any, cast

Json = dict[str, Any]
WHAT = {"concurrency": "streams", "rate_per_s": "requests/s"}


def load_text(stages: list[Json]) -> str:
    """The load in a few words: `1–32 streams, 6 levels`, `spike 1–8 requests/s`, `search …`.

    Of a form half filled in it says what it can.
    """
    told: list[str] = []
    for over in WHAT:
        values = [s[over] for s in stages if isinstance(s.get(over), int | float)]
        if values:
            told.append(_span(values, over))
    told += dict.fromkeys(words for words in map(_words, stages) if words)
    levels = f", {len(stages)} levels" if len(stages) > 1 else ""
    return " and ".join(told) + levels if told else ""


def length_text(length: Any) -> str:
    """`256`, `about 300`, `10–99`, `as in a file`."""
    match length:
        case {"kind": "uniform", "low": low, "high": high}:
            return f"{low:,}–{high:,}"
        case {"kind": "normal", "mean": middle} | {"kind": "lognormal", "median": middle}:
            return f"about {middle:,.6g}"
        case {"kind": "file"}:
            return "as in a file"
        case int() | float():
            return f"{length:,}"
        case _:
            return "?"


def _words(stage: Json) -> str:
    """What a stage is, if it is not a plain number of streams or requests."""
    match stage:
        case {"kind": "search", "over": over, "low": low, "high": high}:
            return f"search {_span([low, high], over)}"
        case {"kind": "replay"}:
            return f"replay of {str(stage.get('file', 'a trace')).rpartition('/')[2]}"
        case {"doubling": {"over": over, "start": start, "most": most}}:
            return f"doubling {_span([start, most], over)}"
        case {"concurrency": list() as values} | {"rate_per_s": list() as values}:
            over = "concurrency" if stage.get("concurrency") else "rate_per_s"
            known = [v for v in cast("list[Any]", values) if isinstance(v, int | float)]
            return _span(known, over) if known else ""
        case {"concurrency": {"shape": _} as shape} | {"rate_per_s": {"shape": _} as shape}:
            over = "concurrency" if stage.get("concurrency") else "rate_per_s"
            return _shape(cast("Json", shape), over)
        case _:
            return ""


def _shape(shape: Json, over: str) -> str:
    found: list[float] = []
    for name in ("start", "end", "base", "peak", "low", "high", "values"):
        value = shape.get(name)
        listed = cast("list[Any]", value) if isinstance(value, list) else [value]
        found += [v for v in listed if isinstance(v, int | float)]
    for point in cast("list[Any]", shape.get("points") or []):
        found += [v for v in point[1:2] if isinstance(v, int | float)]
    return f"{shape['shape']} {_span(found, over) if found else WHAT[over]}"


def _span(values: list[Any], over: str) -> str:
    low, high = min(values), max(values)
    what = "stream" if over == "concurrency" and high == 1 else WHAT[over]
    return f"{low:g} {what}" if low == high else f"{low:g}–{high:g} {what}"
