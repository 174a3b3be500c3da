"""Who counts the tokens of one class's prompts: what the plan says, or the best there is."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from loadgen.calibration import Between, TokenizeCounter, UsageCounter
from loadgen.plan import MAIN_TARGET, Plan
from loadgen.plan_parts import PlanError
from loadgen.preflight import PROMPT
from loadgen.prompts.counting import CannotCount, TokenCounter, WordCounter
from loadgen.prompts.stock import Stock, make_stock
from loadgen.prompts.tokenizer_counter import TokenizerCounter
from loadgen.target import facts_of
from loadgen.tokenizer import TokenizerError
from loadgen.tokenizer import load as load_tokenizer


def tokenizer_of(plan: Plan, traffic: int, between: Callable[[], None]) -> TokenizerCounter | None:
    """The tokenizer the plan names for a class, unless its prompts are counted otherwise.

    Raises PlanError if it cannot be had.
    """
    one = plan.traffic()[traffic]
    name, by = plan.target_of(one).tokenizer, one.workload.count_by
    if name is None or by not in ("auto", "tokenizer"):
        return None
    try:
        return TokenizerCounter(load_tokenizer(name), name, between)
    except TokenizerError as error:
        raise PlanError([f"{error} (target.tokenizer)"]) from None


def stock_of(
    plan: Plan,
    run: dict[str, Any],
    traffic: int,
    tokenizer: TokenizerCounter | None,
    between: Between,
) -> Stock:
    """What the class's synthetic prompts are cut from.  between: others have their turn there.

    Raises PlanError where the plan wants a count that cannot be had.
    """
    one = plan.traffic()[traffic]
    by, target = one.workload.count_by, plan.target_of(one)
    where = f"classes[{traffic}].workload" if plan.classes else "workload"
    lengths = _lengths(plan, traffic)
    told = _told_by_preflight(plan, run, traffic)
    try:
        if tokenizer is not None:
            return _with_overhead(make_stock(tokenizer, plan.seed, lengths), tokenizer, told)
        if by == "auto" and target.url.startswith("sim://"):
            stock = make_stock(WordCounter(), plan.seed, lengths)
            return replace(stock, facts=replace(stock.facts, note=None))  # it does count words
        if by == "words":
            return make_stock(WordCounter(), plan.seed, lengths)
        return _counted_by_server(plan, run, traffic, between)
    except CannotCount as error:
        if by != "auto":
            raise PlanError([f"{where}.count_by is {by!r}: {error}"]) from None
    return make_stock(WordCounter(), plan.seed, lengths)


def _counted_by_server(plan: Plan, run: dict[str, Any], traffic: int, between: Between) -> Stock:
    """By /tokenize, else by usage; raises CannotCount if it has neither."""
    lengths = _lengths(plan, traffic)
    told = _told_by_preflight(plan, run, traffic)
    try:
        with closing(TokenizeCounter(plan, run, traffic, between)) as counter:
            return _with_overhead(make_stock(counter, plan.seed, lengths), counter, told)
    except CannotCount as error:
        if told is None:
            raise CannotCount(f"{error} Its answers tell no usage either.") from None
    stock = make_stock(UsageCounter(plan, run, traffic, between), plan.seed, lengths)
    return _facts(stock, overhead_tokens=stock.pieces.constant)


def _lengths(plan: Plan, traffic: int) -> list[int]:
    """The one length that all prompts of the class have; none if they differ."""
    length = plan.traffic()[traffic].workload.prompt_tokens
    return [length] if isinstance(length, int) else []


def _with_overhead(stock: Stock, counter: TokenCounter, told: int | None) -> Stock:
    """told: tokens of the first request's prompt with all that is around it."""
    if told is None:
        return stock
    own = counter.count_all([PROMPT])[0] - stock.pieces.constant
    return _facts(stock, overhead_tokens=told - own)


def _facts(stock: Stock, overhead_tokens: int) -> Stock:
    return replace(stock, facts=replace(stock.facts, overhead_tokens=overhead_tokens))


def _told_by_preflight(plan: Plan, run: dict[str, Any], traffic: int) -> int | None:
    """Prompt tokens as the endpoint counted the first request's; None if it does not tell."""
    facts = facts_of(run, plan.traffic()[traffic].target or MAIN_TARGET)
    seen = facts.get("preflight") or {}
    return (seen.get("row") or {}).get("prompt_tokens")
