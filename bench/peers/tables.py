"""The comparison as Markdown: one row per tool and level, never one left out."""

from bench.peers.peer import Peer, Spread, error
from bench.peers.ranking import Median, standings
from bench.peers.registry import TOOLS
from bench.peers.side_by_side import Failed, Measured, ideal_events_per_s

Result = Measured | Failed
LOAD = (
    "streams", "tool", "requests: asked, true, reported", "events/s (ideal)",
    "CPU µs/event under load", "CPU µs/event to its end", "CPU s before the first request",
    "it says itself",
)  # fmt: skip
FAILED_ABOVE = "failed, see above"
TIMES = ("true", "reported", "error")


def tables(results: list[Result], rounds: int) -> str:
    """Everything measured, in four tables."""
    return "\n\n".join(
        [
            "**Load and cost** (CPU: user and system time of the whole process tree)",
            _table(LOAD, [_load(r, rounds) for r in results]),
            "**TTFT**, ms: mean / p50 / p99; error = |reported − true|",
            _table(("streams", "tool", *TIMES), [_ttft(r) for r in results]),
            "**ITL**, ms: mean / p50 / p99, by what each tool means by it",
            _table(
                ("streams", "tool", "of", "in its own words", *TIMES),
                [row for r in results for row in _itl(r)],
            ),
            "**Headway and the best of the others** (smaller is better; median of the runs)",
            _table(("streams", "figure", "Headway", "best other", ""), _ranking(results)),
        ]
    )


def _load(result: Result, rounds: int) -> list[str]:
    if isinstance(result, Failed):
        return [*_head(result), _failure(result)]
    whole, cpu = result.whole, result.cpu
    us_per_event = 1e6 / whole.events
    ideal = ideal_events_per_s(result.concurrency)
    return [
        *_head(result),
        f"{result.concurrency * rounds}, {whole.requests}, {result.reported.requests}",
        f"{whole.events_per_s:.0f} ({ideal:.0f})",
        f"{cpu.load_s * us_per_event:.1f}",
        f"{(cpu.load_s + cpu.after_s) * us_per_event:.1f}",
        f"{cpu.start_s:.1f}",
        _own_words(result),
    ]


def _own_words(result: Measured) -> str:
    code = "" if result.exit_code == 0 else f"exit code {result.exit_code}"
    return ", ".join(word for word in (result.reported.remark, code) if word)


def _ttft(result: Result) -> list[str]:
    if isinstance(result, Failed):
        return [*_head(result), FAILED_ABOVE]
    return [*_head(result), *_times(result.truth.ttft, result.reported.ttft)]


def _itl(result: Result) -> list[list[str]]:
    if isinstance(result, Failed):
        return [[*_head(result), FAILED_ABOVE]]
    peer: Peer = TOOLS[result.tool]
    true, told = result.truth, result.reported
    rows: list[list[str]] = []
    if peer.gaps_name:
        words = ("each chunk gap", peer.gaps_name)
        rows.append([*_head(result), *words, *_times(true.gaps, told.gaps)])
    if peer.per_token_name:
        words = ("mean of each request", peer.per_token_name)
        rows.append([*_head(result), *words, *_times(true.per_token, told.per_token)])
    return rows


def _ranking(results: list[Result]) -> list[list[str]]:
    rows: list[list[str]] = []
    for at in standings(results):
        best = f"{_median(at.best_other)} {at.best_other.tool}" if at.best_other else "–"
        rows.append([str(at.concurrency), at.figure, _median(at.ours), best, at.verdict])
    return rows


def _median(found: Median | None) -> str:
    if found is None:
        return "–"
    spread = f" [{found.least:.3g} – {found.most:.3g}]" if found.most > found.least else ""
    return f"{found.median:.3g}{spread}"


def _head(result: Result) -> list[str]:
    return [str(result.concurrency), result.tool]


def _failure(failed: Failed) -> str:
    return "**failed**: " + " ".join(failed.words.split()).replace("|", "\\|")


def _times(true: Spread, told: Spread | None) -> list[str]:
    if told is None:
        return [_three(true), "not told", "–"]
    return [_three(true), _three(told), _three(error(true, told))]


def _three(spread: Spread) -> str:
    return " / ".join(_ms(x) for x in (spread.mean, spread.p50, spread.p99))


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *(r + [""] * (len(head) - len(r)) for r in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
