"""What GuideLLM 0.2 printed: as 0.5 (guidellm.py), but for two things.

time_per_output_token_ms = (last token − first token) / output tokens: without the wait for the
first token, yet divided by all tokens.  There is no window: rates divide by first start to last
end.  Its output_tokens_per_second comes of intervals merged in time, which is not rebuilt here.
Source: github.com/vllm-project/guidellm, 0.2; checked on a file of 2025-04.
"""

from dataclasses import replace

from analysis.dialects.cut import Cut, over
from analysis.dialects.guidellm import GUIDELLM, Version, level_lines
from analysis.dialects.line import Dialect, Facts, Line
from analysis.dialects.rules import inverse_cdf
from storage.exchange.answers import Answers, Floats

BY_ALL = "It divides last − first token by all tokens, ours by those after the first chunk."
NOT_REBUILT = "Its rate comes of tokens spread over merged intervals of time; not rebuilt."


def numbers(answers: Answers, facts: Facts) -> list[Line]:
    """Every number that the tool printed for one level, of its successful requests."""
    lines = level_lines(answers, facts, Version(tpot_s, BY_ALL, rule))
    return [
        replace(line, theirs=None, reason=NOT_REBUILT)
        if line.name.startswith("output_tokens_per_second")
        else line
        for line in lines
        if not line.name.startswith("time_to_first_output_token_ms")
    ]


def tpot_s(done: Cut) -> Floats:
    """(last token - first token) / output tokens."""
    a = done.answers
    return over(a.last_s - a.ttft_s, a.output_tokens)


def rule(values: Floats, weights: Floats | None = None) -> dict[str, float]:
    """inverse_cdf; but what is weighted counts its requests, not its tokens."""
    found = inverse_cdf(values, weights)
    if found:
        found |= {"count": float(len(values)), "sum": found["mean"] * len(values)}
    return found


GUIDELLM_02 = Dialect(
    title="GuideLLM 0.2",
    versions="0.2 (2025-04)",
    rule=GUIDELLM.rule,
    per_token={
        "TPOT": "(last token − first token) ÷ tokens, per request; by tokens",
        "ITL": "(last token − first token) ÷ (tokens − 1), per request; by tokens − 1",
    },
    numbers=numbers,
)
