"""What several dialects count alike: the level's length, its rates, and the same sentences."""

import math

from analysis.dialects import why
from analysis.dialects.cut import Cut, complete, total
from analysis.dialects.line import Facts
from analysis.dialects.sheet import Sheet
from storage.exchange.answers import Answers

NO_TOKENS = "No answer tells its tokens."
NO_RATE = "No start times and no duration: there is no rate."


def length_s(every: Cut, facts: Facts) -> float | None:
    """The tool's denominator: as it told it, else first send to last end; None without times."""
    return facts.duration_s if facts.duration_s is not None else every.span_s


def per(amount: float, seconds: float | None) -> float | None:
    """A rate; None where there is no length."""
    return amount / seconds if seconds else None


FAILED_COUNT = " Tokens of requests that failed count in ours only."


def rates(
    sheet: Sheet, every: Cut, seconds: float | None, words: str, names: dict[str, str]
) -> None:
    """Request, input, output and total rates of answers that came whole.

    words: what the seconds are.  names: requests, input, output, total -> (the tool's own name);
    a kind without a name is not printed.
    """
    done = complete(every)
    a = done.answers
    lost = FAILED_COUNT if len(done) < len(every) else ""
    out, prompt = total(a.output_tokens), total(a.prompt_tokens)
    told = why.windowed(sheet.facts, seconds, words) if seconds else NO_RATE
    shown = {
        "requests": ("Request throughput", "req/s", len(done), "request_rate", ""),
        "input": ("Input throughput", "tok/s", prompt, "tps_input", ""),
        "output": (
            "Output throughput",
            "tok/s",
            out,
            "tps_system",
            lost,
        ),
        "total": ("Total throughput", "tok/s", out + prompt, None, ""),
    }
    for kind, name in names.items():
        title, unit, amount, metric, more = shown[kind]
        if math.isnan(amount):
            more = f" {NO_TOKENS}"
        sheet.value(name, title, unit, per(amount, seconds), why=f"{told}{more}", metric=metric)


def prompt_and_output(sheet: Sheet, answers: Answers, names: tuple[str, str]) -> None:
    """Sums of tokens; names: of the input's and of the output's."""
    titles = ("Input tokens", "Output tokens")
    columns = (answers.prompt_tokens, answers.output_tokens)
    for name, title, column in zip(names, titles, columns, strict=True):
        amount = total(column)
        sheet.value(name, title, "tokens", amount, why=NO_TOKENS if math.isnan(amount) else "")
