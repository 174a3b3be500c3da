"""Fills a dialect's lines: their number, ours, and the sentence that explains the difference.

The sentence is found, not asserted.  Between their number and ours stand three steps, and each is
told only where it changes the number of this very run: another definition, another percentile
rule, other requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.dialects.cut import known
from analysis.dialects.line import Facts, Line
from analysis.dialects.rules import OURS, Rule, ours, renamed
from analysis.metrics import METRICS
from storage.exchange.answers import Floats

SAME = 1e-9
PER_MS = {"ms": 1.0, "s": 1e-3, "ns": 1e6}
AGREES = "Agrees: the same definition over the same requests."
AGREES_AS_SHOWN = "Agrees, to the digits shown."
SAME_HERE = "The same definition over the same requests."


@dataclass(frozen=True, slots=True)
class Spread:
    """One number per request or gap, of which the tool prints statistics.

    pattern: the name of a statistic, with {stat}.  theirs, ours: values by their definition and by
    ours over the same requests, in `unit`; NaN is not there.  why: how the definitions differ, told
    where that changes a number.  note: told always.  caveat: what the tool itself would have seen
    otherwise, so that the numbers do not agree though they are the same.
    missing: why there is no value of theirs.
    """

    pattern: str
    title: str
    unit: str
    theirs: Floats
    metric: str | None = None
    ours: Floats = field(default_factory=lambda: np.empty(0))
    why: str = ""
    note: str = ""
    caveat: str = ""
    missing: str = "No answer has it."
    weights: Floats | None = None
    ours_weights: Floats | None = None


@dataclass(frozen=True)
class Sheet:
    """One dialect's lines for one level.

    names: (statistic by the tool's name, by rules.py's).  rule_words: its rule in an adverb, ""
    where it is ours.  n: answers it counts.
    """

    facts: Facts
    n: int
    rule: Rule
    names: Sequence[tuple[str, str]]
    rule_words: str = ""
    lines: list[Line] = field(default_factory=list[Line])

    def spread(self, shown: Spread) -> None:
        """A line for each statistic."""
        found = renamed(self.rule(*_there(shown.theirs, shown.weights)), self.names)
        same_requests = renamed(self.rule(*_there(shown.ours, shown.ours_weights)), self.names)
        mine = ours(shown.metric, *_there(shown.ours, shown.ours_weights)) if shown.metric else {}
        for stat, key in self.names:
            theirs = _finite(found.get(stat))
            shown_here = self._ours(shown.metric, key, shown.unit)
            told = shown.missing
            if theirs is not None:
                steps = _Steps(theirs, same_requests.get(stat), mine.get(key), shown_here)
                told = self._reason(shown, stat, steps)
            name = shown.pattern.format(stat=stat)
            line = Line(
                name=name,
                title=shown.title,
                stat=stat,
                unit=shown.unit,
                theirs=theirs,
                metric=shown.metric,
                ours=shown_here,
                ours_all=mine.get(key),
                reason=told,
            )
            self.lines.append(line)

    def value(  # noqa: PLR0913  # the fields of a line; callers name them
        self,
        name: str,
        title: str,
        unit: str,
        theirs: float | None,
        *,
        why: str = "",
        metric: str | None = None,
    ) -> None:
        """A number that is no statistic; why: told unless ours is the same."""
        shown_here = self._ours(metric, "value", unit)
        theirs = _finite(theirs)
        reason = _agreement(theirs, shown_here) or why
        self.lines.append(Line(name, title, "", unit, theirs, metric, shown_here, None, reason))

    def _ours(self, metric: str | None, key: str, unit: str) -> float | None:
        """As the Run page has it, in their unit."""
        found = self.facts.ours.get(metric or "", {}).get("p50" if key == "median" else key)
        if metric is None or not isinstance(found, int | float):
            return None
        return found * PER_MS[unit] if METRICS[metric].unit == "ms" else float(found)

    def _reason(self, shown: Spread, stat: str, steps: "_Steps") -> str:
        if shown.metric is None:
            return " ".join(filter(None, (shown.why, shown.note, shown.caveat)))
        told: list[str] = []
        if steps.by_definition:
            told.append(shown.why)
        if steps.by_rule:
            told.append(self._rule_sentence(stat, steps))
        if steps.by_requests:
            told.append(self._window_sentence())
        if not told:
            told.append(SAME_HERE if shown.caveat else AGREES)
        return " ".join(filter(None, (*told, shown.note, shown.caveat)))

    def _rule_sentence(self, stat: str, steps: "_Steps") -> str:
        name, same, mine = words_of(stat), fig(steps.same_requests), fig(steps.ours_all)
        if not self.rule_words:
            return f"Its {name} is taken by another rule than ours."
        made = f"It takes the {name} {self.rule_words}"
        return f"{made}: {same} where ours gives {mine}." if same != mine else f"{made}."

    def _window_sentence(self) -> str:
        window_s, n = self.facts.window_s, self.facts.window_n
        if window_s is None:
            return ""
        if n is None or n == self.n:
            return f"Ours comes from the level's window of {fig(window_s)} s."
        return (
            f"It counts all {self.n:,} answers of the level, ours the {n:,} asked for within its "
            f"window of {fig(window_s)} s."
        )


def words_of(stat: str) -> str:
    """A statistic's name in a sentence, whatever the tool calls it: `percentiles.p99` is p99."""
    stat = OURS.get(stat, stat).removeprefix("percentiles.").removeprefix("quantiles_")
    if stat.endswith(".00_percentile"):
        stat = f"p{stat.partition('.')[0]}"
    return {"std": "standard deviation"}.get(stat, stat)


@dataclass(frozen=True, slots=True)
class _Steps:
    """From their number to ours: their definition and rule, ours by theirs, ours, ours cut."""

    theirs: float
    same_requests: float | None
    ours_all: float | None
    ours: float | None

    @property
    def by_definition(self) -> bool:
        """Another definition; a number of ours that does not exist is another one too."""
        return self.same_requests is None or not close(self.theirs, self.same_requests)

    @property
    def by_rule(self) -> bool:
        return _differ(self.same_requests, self.ours_all)

    @property
    def by_requests(self) -> bool:
        return _differ(self.ours_all, self.ours)


def close(a: float, b: float, relative: float = SAME) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(a - b) <= relative * max(abs(a), abs(b))


def _agreement(theirs: float | None, ours: float | None) -> str:
    """That a number is ours too, exactly or as shown; "" where it is not, or there is none."""
    if theirs is None or ours is None:
        return ""
    if close(theirs, ours):
        return AGREES
    return AGREES_AS_SHOWN if fig(theirs) == fig(ours) else ""


def fig(value: float | None) -> str:
    """A number in a sentence: four digits at most, a dash for none."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _there(values: Floats, weights: Floats | None) -> tuple[Floats, Floats | None]:
    if weights is None:
        return known(values), None
    kept = ~np.isnan(values)
    return values[kept], weights[kept]


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _differ(one: float | None, other: float | None) -> bool:
    """Whether both are there and unlike."""
    return one is not None and other is not None and not close(one, other)
