"""How long an answer becomes, how much of it is thought first, and why it ends."""

import math
import random
from dataclasses import dataclass
from typing import Literal

from simulator.ask import Ask, bad_request
from simulator.profiles import Profile


@dataclass(frozen=True, slots=True)
class AnswerLength:
    """Output of one request, in tokens; the thinking ones come first."""

    output_tokens: int
    thinking_tokens: int
    finish_reason: Literal["stop", "length"]


def answer_length(ask: Ask, profile: Profile, rng: random.Random) -> AnswerLength:
    """The length of the answer to `ask`; raises ApiError 400 if the context is too small for it.

    With ignore_eos it is what was allowed; else the model may stop before, by a log-normal length.
    A request with a seed always gets the same one.
    """
    allowed = _allowed_tokens(ask, profile.engine.context_tokens)
    if allowed == 0:
        return AnswerLength(0, 0, "stop")
    source = rng if ask.seed is None else random.Random(f"{profile.seed}/{ask.seed}")
    spread = math.exp(source.gauss(0, 1) * profile.natural_spread)
    natural = max(1, round(profile.natural_tokens * spread))
    is_cut = ask.ignore_eos or natural > allowed
    output_tokens = allowed if is_cut else natural
    share = profile.thinking_share if ask.thinks else 0.0
    return AnswerLength(
        output_tokens=output_tokens,
        thinking_tokens=round(output_tokens * share),
        finish_reason="length" if is_cut else "stop",
    )


def _allowed_tokens(ask: Ask, context_tokens: int) -> int:
    n_prompt = max(len(words) for words in ask.inputs)
    room = context_tokens - n_prompt
    if room < min(1, ask.max_tokens if ask.max_tokens is not None else 1):
        raise bad_request(
            f"This model's maximum context length is {context_tokens} tokens. However, your prompt "
            f"contains {n_prompt} input tokens. Please reduce the length of the input prompt.",
            "input_tokens",
        )
    if ask.max_tokens is None:
        return room
    if ask.max_tokens > room:
        raise bad_request(
            f"max_tokens={ask.max_tokens} and a prompt of {n_prompt} tokens exceed this model's "
            f"maximum context length of {context_tokens}. Please request fewer output tokens.",
            "max_tokens",
        )
    return ask.max_tokens
