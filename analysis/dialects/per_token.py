"""One level's time per token in every dialect side by side, and the sentence that leads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.dialects.line import Facts, Line
from analysis.dialects.registry import DIALECTS
from analysis.dialects.sheet import PER_MS, fig

OURS = (
    ("tpot", "TPOT", "(last token − first token) ÷ tokens after the first chunk, per request"),
    ("itl", "ITL", "gap ÷ tokens it brought, weighted by them"),
    ("chunk_gap", "Chunk gap", "gap between chunks, each counts once"),
)
MEAN, MEDIAN, P99 = (
    ("mean", "avg"),
    ("median", "p50", "50.00_percentile"),
    ("p99", "99.00_percentile"),
)
COUNT = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class PerToken:
    """What one tool calls time per token, ms; None where the records cannot give it."""

    dialect: str  # key of DIALECTS; "" for ours
    tool: str
    name: str
    mean: float | None
    p50: float | None
    p99: float | None
    meaning: str


def per_token(lines: Mapping[str, Sequence[Line]], facts: Facts) -> list[PerToken]:
    """Ours first, over the level's window; then each tool's, over all that it counts."""
    found = [
        PerToken(
            dialect="",
            tool="Headway",
            name=title,
            mean=_of(facts, name, "mean"),
            p50=_of(facts, name, "p50"),
            p99=_of(facts, name, "p99"),
            meaning=says,
        )
        for name, title, says in OURS
    ]
    for key, told in lines.items():
        dialect = DIALECTS[key]
        for title, says in dialect.per_token.items():
            mine = [line for line in told if line.title == title]
            found.append(
                PerToken(
                    dialect=key,
                    tool=dialect.title,
                    name=title,
                    mean=_ms(mine, MEAN),
                    p50=_ms(mine, MEDIAN),
                    p99=_ms(mine, P99),
                    meaning=says,
                )
            )
    return found


def sentence(rows: Sequence[PerToken]) -> str:
    """How many figures one measurement has, and how far apart they are."""
    means = [row.mean for row in rows if row.mean is not None]
    if not means:
        return "No answer has two tokens: there is no time per token in any dialect."
    different = sorted({float(f"{mean:.3g}") for mean in means})
    if len(different) == 1:
        return (
            f"One measurement, and every tool would call its time per token {fig(different[0])} ms "
            "on average."
        )
    n = COUNT[len(different)] if len(different) < len(COUNT) else f"{len(different)}"
    return (
        f"One measurement, {n} different “time per token” figures: {fig(min(means))} … "
        f"{fig(max(means))} ms on average; here is why."
    )


def _of(facts: Facts, metric: str, stat: str) -> float | None:
    found = facts.ours.get(metric, {}).get(stat)
    return float(found) if isinstance(found, int | float) else None


def _ms(lines: Sequence[Line], names: Sequence[str]) -> float | None:
    """The statistic of that name, in ms."""
    for line in lines:
        if line.theirs is not None and any(line.stat.endswith(name) for name in names):
            return line.theirs / PER_MS[line.unit]
    return None
