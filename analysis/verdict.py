"""The first sentence of a run: what it can carry, where it stops scaling, what failed.

Built from the dict of show.py, so that page, text and report say the same.
"""

from dataclasses import dataclass
from typing import Any

from analysis import searches
from analysis.checks import NOT_STEADY
from analysis.level_words import at_next, figures, latency, named, p95_of
from analysis.searches import Tone
from analysis.unanswered import ONLY_SUMMARY, failures_of, nothing_of

Json = dict[str, Any]
KNEE_SHARE = 0.25  # an added stream brings less than this share of what the first streams brought
MORE_STREAMS = 1.05  # levels closer than this are the same load
WORST_FIRST: tuple[Tone, ...] = ("bad", "warn", "neutral", "good")
UNITS = {"tps_system": "tok/s", "request_rate": "requests/s"}


@dataclass(frozen=True, slots=True)
class Headline:
    """One sentence and its colour; `more`: further sentences, most important first."""

    text: str
    tone: Tone
    more: list[str]

    def to_dict(self) -> Json:
        """As `show --json` writes it."""
        return {"text": self.text, "tone": self.tone, "more": self.more}


def headline(shown: Json) -> Headline:
    """The run in a sentence.  shown: show.py's levels, outcomes, validity and failures."""
    levels = by_load([lv for lv in shown["levels"] if is_answered(lv)])
    failed = failures_of(shown)
    if not levels:
        if (shown.get("run") or {}).get("imported") and not shown["outcomes"]:
            return Headline(ONLY_SUMMARY, "neutral", [])
        return Headline(failed or nothing_of(shown["outcomes"]), "bad", [])
    more = [said for said in (failed, _warned(shown["levels"])) if said]
    if shown["validity"]["verdict"] == "saturated":  # figures not to be believed mean nothing
        return Headline(shown["validity"]["reason"], "bad", more)
    answers = shown.get("search") or []
    sentences, tones = searches.said(answers)
    beside = searches.beside(answers, shown["levels"])
    if any(map(is_answered, beside)):
        first, tone, others = _by_class(beside)
        sentences += [first, *others]
        tones.append(tone)
    tone = min(tones, key=WORST_FIRST.index)
    text, *others = sentences
    more = [*others, *more]
    if failed and tone in ("good", "neutral"):
        tone = "warn"
    return Headline(text, tone, more)


def _by_class(levels: list[Json]) -> tuple[str, Tone, list[str]]:
    """Sentence and tone; with several classes that of the first, the worst tone, and the others'.

    Levels of different classes are not steps of one sweep: each class is judged by itself.
    """
    names = list(dict.fromkeys(level["class"] for level in levels if is_answered(level)))
    found = [_of_class([lv for lv in levels if lv["class"] == name]) for name in names]
    if len(names) == 1:
        return *found[0], []
    said = [f"{name}: {text}" for name, (text, _) in zip(names, found, strict=True)]
    tones: list[Tone] = [tone for _, tone in found]
    return said[0], min(tones, key=WORST_FIRST.index), said[1:]


def _of_class(levels: list[Json]) -> tuple[str, Tone]:
    return _by_slo(by_load(levels)) or _by_load(by_load([lv for lv in levels if is_answered(lv)]))


def _by_slo(levels: list[Json]) -> tuple[str, Tone] | None:
    """The highest level below which every level holds every objective; None without objectives."""
    if not any(level["slos"] for level in levels):
        return None
    goals = ", ".join(_goal(slo) for slo in levels[0]["slos"])
    held: Json | None = None
    for level in levels:
        broken = [slo for slo in level["slos"] if slo["result"] != "met"]
        if broken:
            worst = next((slo for slo in broken if slo["result"] == "missed"), broken[0])
            if held is not None:
                at = at_next(held, level).rstrip(",")
                return f"Holds {goals} up to {named(held)}; {at}: {worst['sentence']}", "warn"
            at = f"at {level['name']}: {worst['sentence']}"
            if worst["result"] == "missed":
                return f"Does not hold {goals}; {at}", "bad"
            text = f"Too little data to tell whether it holds {goals}; {at}"
            return f"{text}{_missed_above(levels)}", "warn"
        held = level
    assert held is not None
    top = "" if len(levels) == 1 else ", the highest level measured"
    return f"Holds {goals} at {named(held)}{top}: {figures(held)}.", "good"


def _missed_above(levels: list[Json]) -> str:
    """The lowest level that misses an objective, where lower ones cannot tell; "" if none does."""
    for level in levels:
        if any(slo["result"] == "missed" for slo in level["slos"]):
            return f" It does not hold at {level['name']}."
    return ""


def _by_load(levels: list[Json]) -> tuple[str, Tone]:
    """The knee of a sweep by gain per added stream; the figures of a single level."""
    if len(levels) == 1:
        return f"At {named(levels[0])}: {figures(levels[0])}.", "neutral"
    if any(level["mean_in_flight"] is None for level in levels):
        said = [f"{level['name']}: {figures(level)}" for level in levels]
        return f"No times of requests, so no knee; {'; '.join(said)}.", "neutral"
    open_loop = [level for level in levels if level["kind"] == "open"]
    levels = [level for level in levels if level["kind"] == "closed"]
    if not levels:
        return _by_rate(open_loop), "neutral"
    text = _by_streams(levels)
    return f"{text} {_by_rate(open_loop)}" if open_loop else text, "neutral"


def is_answered(level: Json) -> bool:
    """Whether the level has an answer to time: a first token, or an answer in one piece."""
    return bool(latency(level)[1]["n"])


def by_load(levels: list[Json]) -> list[Json]:
    """Closed loop by measured streams in flight, then open loop by offered rate.

    A plan may list its levels in any order; "up to" and "added" speak of the load.
    """

    def load(level: Json) -> tuple[bool, float]:
        is_open = level["kind"] == "open"
        given = level["metrics"]["offered_rate"]["value"] if is_open else level["mean_in_flight"]
        return is_open, float(given or 0)

    return sorted(levels, key=load)


def _by_streams(levels: list[Json]) -> str:
    """The knee of closed-loop levels in order of load."""
    if len(levels) == 1:
        return f"At {named(levels[0])}: {figures(levels[0])}."
    at = knee(levels)
    if at is None:
        top = levels[-1]
        return (
            f"Throughput still grows with each added stream at {named(top)}, the highest level "
            f"measured: {figures(top)}."
        )
    here, beyond = levels[at], levels[at + 1]
    what = _throughput(levels)
    name, p95 = latency(beyond)[0], p95_of(beyond)
    if _of_system(beyond, what) < _of_system(here, what):
        now = (
            f"{_of_system(beyond, what):,.3g}"
            if what == "request_rate"
            else (f"{_of_system(beyond, what):,.0f}")
        )
        return (
            f"Throughput falls from {named(here)} on: {figures(here)}. At {beyond['name']} it "
            f"is {now} {UNITS[what]}, and {name} p95 is {p95}."
        )
    gain = _gain(here, beyond, what)
    first = _of_system(levels[0], what) / levels[0]["mean_in_flight"]
    return (
        f"Throughput levels off at {named(here)}: {figures(here)}. Up to {beyond['name']} each "
        f"added stream brings {gain:,.3g} {UNITS[what]} instead of the first {first:,.3g}, and "
        f"{name} p95 goes to {p95}."
    )


def knee(levels: list[Json]) -> int | None:
    """Index of the last level worth its streams; None while every added stream still pays.

    Gain = Δ system output TPS / Δ mean streams in flight between neighbours; the knee is the level
    before the first gain under 25 % of the lowest level's tok/s per stream.  Where a level's TPS is
    not known: completed requests/s instead.
    """
    in_flight = [level["mean_in_flight"] for level in levels]
    if len(levels) < 2 or None in in_flight or in_flight[0] <= 0:
        return None
    what = _throughput(levels)
    first = _of_system(levels[0], what) / levels[0]["mean_in_flight"]
    for i in range(len(levels) - 1):
        if levels[i + 1]["mean_in_flight"] < MORE_STREAMS * levels[i]["mean_in_flight"]:
            continue  # the same load twice: a difference, but not a gain per stream
        if _gain(levels[i], levels[i + 1], what) < KNEE_SHARE * first:
            return i
    return None


def _by_rate(levels: list[Json]) -> str:
    kept: Json | None = None
    for level in levels:
        check = level["checks"]["offered"]
        if check["holds"] is False:
            done, offered = check["completed_per_s"], check["offered_per_s"]
            behind = f"only {done:,.3g} of {offered:,.3g} requests/s complete{_lost(check)}."
            if kept is None:
                return f"Does not keep up: at {level['name']} {behind}"
            return f"Keeps up to {named(kept)}: {figures(kept)}; {at_next(kept, level)} {behind}"
        kept = level
    assert kept is not None
    return f"Keeps up with every rate up to {named(kept)}: {figures(kept)}."


def _lost(check: Json) -> str:
    """How many failed of those that are missing; "" if none did."""
    return f": {check['failed']:,} of {check['came']:,} failed" if check["failed"] else ""


def _throughput(levels: list[Json]) -> str:
    """What levels are compared by: system output TPS where each tells it, else requests/s."""
    told = all(lv["metrics"]["tps_system"]["value"] is not None for lv in levels)
    return "tps_system" if told else "request_rate"


def _gain(lower: Json, upper: Json, what: str) -> float:
    added = upper["mean_in_flight"] - lower["mean_in_flight"]
    return (_of_system(upper, what) - _of_system(lower, what)) / added if added > 0 else 0.0


def _of_system(level: Json, what: str) -> float:
    return float(level["metrics"][what]["value"])


def _warned(levels: list[Json]) -> str:
    """Which levels come with a warning, the unsteady ones first; "" if none does."""
    unsteady = [lv["name"] for lv in levels if _is_unsteady(lv)]
    other = [lv["name"] for lv in levels if lv["warnings"] and not _is_unsteady(lv)]
    told: list[str] = []
    if unsteady:
        was = "was" if len(unsteady) == 1 else "were"
        told.append(f"{_of(unsteady, levels)} {was} not steady: {', '.join(unsteady)}.")
    if other:
        have = "has" if len(other) == 1 else "have"
        word = "another warning" if unsteady else "a warning"
        told.append(f"{_of(other, levels)} {have} {word}: {', '.join(other)}.")
    return " ".join(told)


def _is_unsteady(level: Json) -> bool:
    return any(said.startswith(NOT_STEADY) for said in level["warnings"])


def _of(some: list[str], levels: list[Json]) -> str:
    return f"{len(some)} of {len(levels)} {'level' if len(levels) == 1 else 'levels'}"


def _goal(slo: Json) -> str:
    return slo["sentence"].partition(":")[0]
