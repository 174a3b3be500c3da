"""SHAPES: from the words of a plan to the curve of a load, as long as its stage."""

import csv
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from loadgen.curves import Curve
from loadgen.plan_parts import PlanError
from loadgen.plan_shapes import Day, Ramp, Shape, Spike, Steps, Table
from loadgen.text_lines import FileTrouble, text_lines

Points = list[tuple[float, float]]
ENDLESS_S = 4e9  # 127 years: a constant load that ends by its requests; in ns it fits 63 bits
DAY_PIECES = 288  # straight pieces of five minutes: within 0.003 % of high - low of the cosine
MOST = 100_000  # of a value, and of a file's points, as in plan_shapes


def curve(load: float | Shape, seconds: float | None) -> Curve:
    """A number or a shape as a curve over [0, seconds); a number may do without seconds.

    Raises PlanError if a table's file cannot be used.
    """
    if isinstance(load, int | float):
        return Curve.through([(0, load), (seconds or ENDLESS_S, load)])
    assert seconds is not None, "the plan saw to it that a shape has seconds"
    return Curve.through(_within(SHAPES[load.shape](load, seconds), seconds))


def ramp(shape: Ramp, seconds: float) -> Points:
    """Straight from start to end."""
    return [(0, shape.start), (seconds, shape.end)]


def steps(shape: Steps, seconds: float) -> Points:
    """Each value for an equal part of the stage."""
    n = len(shape.values)
    return [(seconds * (i + k) / n, v) for i, v in enumerate(shape.values) for k in (0, 1)]


def spike(shape: Spike, seconds: float) -> Points:
    """base, then peak for `for_s` from `at_s` on, then base again; both edges are jumps."""
    begin, end = shape.at_s, shape.at_s + shape.for_s
    if begin >= seconds:
        raise PlanError(
            [f"a spike at_s = {begin:g} never comes in a stage of {seconds:g} seconds."]
        )
    up: Points = [(begin, shape.base), (begin, shape.peak), (end, shape.peak), (end, shape.base)]
    return [(0, shape.base), *up, (max(seconds, end), shape.base)]


def day(shape: Day, seconds: float) -> Points:
    """24 hours from midnight to midnight in `seconds`: a cosine with its top at peak_hour.

    high at peak_hour, low twelve hours away, on average their mean.
    Source: the sinusoidal rate of queueing studies (Green & Kolesar, Management Science 37, 1991).
    """
    middle, swing = (shape.low + shape.high) / 2, (shape.high - shape.low) / 2
    at = [i / DAY_PIECES for i in range(DAY_PIECES + 1)]
    turn = [math.cos(math.tau * (x - shape.peak_hour / 24)) for x in at]
    values = [max(0.0, middle + swing * c) for c in turn]
    return [(x * seconds, value) for x, value in zip(at, values, strict=True)]


def table(shape: Table, seconds: float) -> Points:
    """Straight lines between the points; the first and the last value hold to the stage's ends."""
    given = shape.points if shape.points is not None else read_points(Path(shape.file or ""))
    points = [(float(t), float(value)) for t, value in given]
    if problem := problem_of(points):
        raise PlanError([f"{shape.file or 'a table of a load'} {problem}."])
    return [(0, points[0][1]), *points, (max(seconds, points[-1][0]), points[-1][1])]


SHAPES: dict[str, Callable[[Any, float], Points]] = {
    "ramp": ramp,
    "steps": steps,
    "spike": spike,
    "day": day,
    "table": table,
}


def problem_of(points: Points) -> str | None:
    """What is wrong with the points of a table, as the rest of a sentence; None: nothing."""
    if not points:
        return "holds no points; expected lines of a second and a value"
    for t, value in points:
        if not (math.isfinite(t) and t >= 0):
            return f"has a point at {t:g} s; expected seconds from the stage's begin on"
        if not 0 <= value <= MOST:
            return f"has the value {value:g} at {t:g} s; expected 0 to {MOST:,}"
    for (before, _), (t, _) in pairwise(points):
        if t < before:
            return f"has a point at {t:g} s after one at {before:g} s; expected them in order"
    return None


def read_points(path: Path) -> Points:
    """Points of a CSV file: a second and a value per line, under a header or none.

    Separated by comma, semicolon or tab; empty lines and lines that begin with # are passed over.
    Raises PlanError naming file and line.
    """
    try:
        return list(_points(path))
    except FileTrouble as trouble:
        raise PlanError([str(trouble)]) from None


def _points(path: Path) -> Iterator[tuple[float, float]]:
    n_points, may_be_header = 0, True
    for line in text_lines(path):
        text = line.text.strip()
        if not text or text.startswith("#"):
            continue
        point = _point(text)
        if point is None and not may_be_header:
            raise FileTrouble(f"{line.where}, is {text[:80]!r}; {_EXPECTED}.")
        if n_points == MOST:
            raise FileTrouble(f"{line.where}: a load has {MOST:,} points at most.")
        if point is not None:
            yield point
            n_points += 1
        may_be_header = False


_EXPECTED = "expected a second and a value, such as 60,12.5"


def _point(text: str) -> tuple[float, float] | None:
    separator = next((s for s in "\t;," if s in text), ",")
    cells = next(csv.reader([text], delimiter=separator))
    try:
        t_s, value = (float(cell) for cell in cells[:2])
    except ValueError:  # no numbers, or only one
        return None
    # 60,12,5 may be 12.5 as some countries write it
    return None if any(_is_number(cell) for cell in cells[2:]) else (t_s, value)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _within(points: Points, seconds: float) -> Points:
    """The part of the line from 0 to `seconds`, cut between points where need be."""
    kept: Points = []
    for (t0, a), (t1, b) in pairwise(points):
        if t0 >= seconds:
            break
        share = 1.0 if t1 <= seconds else (seconds - t0) / (t1 - t0)
        kept += [(t0, a), (t0 + share * (t1 - t0), a + share * (b - a))]
    return kept
