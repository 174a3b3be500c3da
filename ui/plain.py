"""Plain words for pages: labels that cannot act as markdown, numbers with their unit, durations."""

import math
import string

_ESCAPES = {ord(c): f"\\{c}" for c in string.punctuation}
DASH = "–"


def label(text: str, limit: int = 80) -> str:
    """`text` as literal text inside a markdown label: nothing in it can link, load or format.

    Control characters and line breaks become spaces; longer than `limit` ends in an ellipsis.
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    return (flat if len(flat) <= limit else flat[: limit - 1] + "…").translate(_ESCAPES)


def sentence(error: BaseException) -> str:
    """What an exception says, as one line fit for a page; never empty, never a traceback."""
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}."
    return " ".join(str(error).split()) or f"{type(error).__name__} without a message."


def number(value: float | None, digits: int = 3) -> str:
    """Rounded to significant digits, with thousands commas; a dash where there is no value."""
    if value is None or not math.isfinite(value):
        return DASH
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, min(decimals, digits))}f}"


def ms(value: float | None) -> str:
    """Milliseconds with their unit; from ten seconds on in seconds."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{number(value / 1000)} s" if value >= 10_000 else f"{number(value)} ms"


def seconds(value: float | None) -> str:
    """A duration as a person says it: `48 s`, `1 min 5 s`, `2 h 10 min`; rounded to the second."""
    if value is None or not math.isfinite(value):
        return DASH
    whole = max(0, round(value))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    parts = [(hours, "h"), (minutes, "min"), (secs, "s")]
    shown = [f"{n} {unit}" for n, unit in parts if n][:2]
    return " ".join(shown) or "0 s"


def counted(n: int, one: str, many: str | None = None) -> str:
    """`1 request`, `2 requests`, `1,200 requests`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
