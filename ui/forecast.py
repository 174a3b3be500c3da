"""What a plan will ask for: levels, requests, tokens, time and dollars, before it runs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from loadgen.forecast_levels import FIRST_TOKEN_S, TOKENS_PER_S, Level, forecast_levels
from loadgen.plan import Plan
from loadgen.plan_lengths import mean_of
from ui.plain import number, seconds


@dataclass(frozen=True, slots=True)
class Forecast:
    """Totals; None where a length is in a file that is only read when the run starts.

    dollars: None also where a price is unknown.  notes: what is assumed, unknown, or ends it early.
    """

    levels: tuple[Level, ...]
    requests: float
    input_tokens: float | None
    output_tokens: float | None
    dollars: float | None
    notes: tuple[str, ...]

    @property
    def total_s(self) -> float:
        """All levels one after another, without the time their last streams take to end."""
        return sum(level.seconds for level in self.levels)

    @property
    def is_guessed(self) -> bool:
        """Whether requests depend on how fast the endpoint answers."""
        return any(level.guessed for level in self.levels)


def forecast(plan: Plan) -> Forecast:
    """Raises ValueError if a file that the load names cannot be used."""
    levels = tuple(forecast_levels(plan))
    n_in, n_out, dollars = [0.0], [0.0], [0.0]
    for k, traffic in enumerate(plan.traffic()):
        tokens_in, tokens_out = _tokens(plan, levels, k)
        prices = plan.target_of(traffic).prices
        n_in.append(tokens_in)
        n_out.append(tokens_out)
        cost = (
            tokens_in * prices.usd_per_m_input + tokens_out * prices.usd_per_m_output
            if prices
            else math.nan
        )
        dollars.append(cost / 1e6)
    totals = Forecast(
        levels=levels,
        requests=sum(sum(level.requests) for level in levels),
        input_tokens=_known(n_in),
        output_tokens=_known(n_out),
        dollars=_known(dollars),
        notes=(),
    )
    notes = tuple(_notes(plan, totals))
    return Forecast(
        levels, totals.requests, totals.input_tokens, totals.output_tokens, totals.dollars, notes
    )


def forecast_text(cost: Forecast) -> str:
    """The head line: `1 min 40 s · about 780 requests · 200,000 tokens in, 100,000 out`."""
    open_ended = any(level.hint for level in cost.levels)
    parts = [f"**{'Up to about ' if open_ended else ''}{seconds(cost.total_s)}**"]
    if cost.requests:
        what = "request" if round(cost.requests) == 1 else "requests"
        about = "about " if cost.is_guessed else ""
        more = " and those of its search for levels" if open_ended else ""
        parts.append(f"{about}{number(cost.requests, 2)} {what}{more}")
        told = [
            f"{'unknown' if tokens is None else number(tokens, 2)} {where}"
            for tokens, where in ((cost.input_tokens, "tokens in"), (cost.output_tokens, "out"))
        ]
        parts.append(", ".join(told))
    if cost.dollars is not None and cost.requests:
        parts.append(f"**{cost.dollars:,.2f} US\\$**")
    return " · ".join(parts)


def _tokens(plan: Plan, levels: tuple[Level, ...], k: int) -> tuple[float, float]:
    """Tokens in and out of class `k`; NaN where they are not known."""
    work = plan.traffic()[k].workload
    prompt, answer = (_mean(x) for x in (work.prompt_tokens, work.output_tokens))
    if work.file is not None:
        prompt = math.nan
        answer = math.nan if work.file.output_column else answer
    if work.conversation is not None:
        # Turn t carries the t turns before it, so on average (turns - 1) / 2 of them.
        before = (_mean(work.conversation.turns) - 1) / 2
        prompt += before * (prompt + answer)
    total_in = total_out = 0.0
    for level in levels:
        replay = None if level.schedule is None else level.schedule.replay
        if replay is not None and not any(k in p.classes and p.is_own for p in level.parts):
            mine = level.index[level.traffic == k]
            total_in += float(replay.prompt_tokens[mine].sum())
            total_out += float(replay.output_tokens[mine].sum())
        elif level.requests[k]:
            total_in += level.requests[k] * prompt
            total_out += level.requests[k] * answer
    return total_in, total_out


def _mean(length: object) -> float:
    known = mean_of(length)
    return math.nan if known is None else known


def _known(values: list[float]) -> float | None:
    total = sum(values)
    return total if math.isfinite(total) else None


def _notes(plan: Plan, cost: Forecast) -> Iterator[str]:
    if cost.is_guessed:
        yield (
            "Requests in closed loop depend on how fast the endpoint answers; here a stream is "
            f"assumed to wait {FIRST_TOKEN_S:g} s and then to yield {TOKENS_PER_S:g} tokens/s."
        )
    yield from (level.hint for level in cost.levels if level.hint)
    cut_s = 0.0
    for level in cost.levels:
        if math.isfinite(level.whole_s):
            yield (
                f"The first {sum(len(one.due_s) for one in cost.levels):,} arrivals are drawn as "
                f"they are scheduled, up to {seconds(cut_s + level.whole_s)}; after that the "
                "planned rate is drawn."
            )
            break
        cut_s += level.seconds
    if cost.input_tokens is None or cost.output_tokens is None:
        yield "Lengths in a file are read when the run starts: tokens are not known before."
    yield from _early_ends(plan, cost)


def _early_ends(plan: Plan, cost: Forecast) -> Iterator[str]:
    """Limits of the whole run that this plan would reach."""
    limits = plan.limits
    tokens = (cost.input_tokens or 0) + (cost.output_tokens or 0)
    reached = (
        (limits.requests, cost.requests, "requests"),
        (limits.seconds, cost.total_s, "seconds"),
        (limits.tokens, tokens, "tokens"),
        (limits.dollars, cost.dollars or 0, "US$"),
    )
    for limit, planned, what in reached:
        if limit is not None and planned > limit:
            yield f"The run's limit of {number(limit)} {what} will end it before that."
    if limits.dollars is not None and cost.dollars is None and cost.requests:
        yield "A limit in dollars needs the prices of each endpoint."
