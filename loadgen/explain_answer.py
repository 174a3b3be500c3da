"""What is odd about what an answer said: errors, usage, tokens, reasoning, its end, its model.

Each rule takes an explanation and returns one sentence with what to do, or None.
"""

from loadgen.explain_facts import Explanation
from loadgen.explain_words import UNKNOWN, counted

EARLY_MS = 10.0
"""First bytes this much before the first token, and in its first half, are not the first token."""
SEVERAL = 1.3
"""More tokens per chunk than this, on average, are several (broken characters alone make 1.05)."""
SEVERAL_AT_LEAST = 3
"""And so many more tokens than chunks, for one broken character weighs much in a short answer."""


def rate_limited(seen: Explanation) -> str | None:
    """429, or its like inside a 200."""
    if seen.row.outcome != "rate_limited":
        return None
    wait = seen.row.retry_after_s
    told = f"it asks to wait {wait:,.0f} s" if wait is not None else "it names no seconds to wait"
    return f"The endpoint limits the rate ({told}): a load test needs a higher limit; ask for one."


def error_inside(seen: Explanation) -> str | None:
    """HTTP 200, and yet an error."""
    if seen.row.http_status != 200 or "error" not in seen.kinds:
        return None
    n = seen.row.n_chunks
    return (
        f"HTTP says 200, but the answer holds an error after {counted(n, 'token event')}: tools "
        "that go by the status count it as a success; see the server's log."
    )


def malformed(seen: Explanation) -> str | None:
    """Events that could not be read."""
    n = seen.kinds.get("malformed", 0)
    if not n:
        return None
    return (
        f"{counted(n, 'event')} could not be read as {seen.asked.api}: check the API and proxies."
    )


def unknown_events(seen: Explanation) -> str | None:
    """Events without meaning to this API."""
    n = sum(line.note == UNKNOWN for line in seen.events)
    if not n:
        return None
    return (
        f"{counted(n, 'event')} of a shape that {seen.asked.api} does not know (kind empty): none "
        "counts as a token; if they hold text, the API is another one."
    )


def no_usage(seen: Explanation) -> str | None:
    """Nobody counted tokens."""
    if not seen.ok or seen.row.output_tokens is not None or not seen.row.n_chunks:
        return None
    told = [line.note for line in seen.events if line.note.startswith("usage ")]
    if told and not any(" out" in note for note in told):
        return (
            "The usage it sent holds no count of output tokens that can be one, so nobody counted "
            "them; there is no TPOT, ITL or tokens per second; see what the server counts, or name "
            "a target.tokenizer."
        )
    if told:
        return (
            "The usage it sent cannot be all of the answer's (it counts fewer tokens than there "
            "were chunks, as for one choice of several), so nobody counted them; there is no TPOT, "
            "ITL or tokens per second."
        )
    if seen.asked.has_tokenizer:
        return (
            "The server counts no tokens: target.tokenizer does after the run, so tokens per "
            "second exist, but not gaps per token."
        )
    return (
        "The server counts no tokens (no usage), so there are chunk gaps but no TPOT, ITL or "
        "tokens per second; let it honour stream_options.include_usage, or name a target.tokenizer."
    )


def counted_in_chunks(seen: Explanation) -> str | None:
    """No usage, but each chunk lists its tokens."""
    if seen.row.token_source != "chunks":
        return None
    return (
        "There is no usage; tokens are counted from the lists that the chunks themselves carry, "
        "which leave out what was never streamed."
    )


def usage_contradicts(seen: Explanation) -> str | None:
    """Fewer tokens than chunks with text."""
    row = seen.row
    output = row.output_tokens
    is_less = output is not None and row.n_choices <= 1 and output < row.n_chunks
    if output is None or not (is_less or seen.usage_contradicts):
        return None
    return (
        f"The usage counts {output:,} output tokens, yet {row.n_chunks:,} chunks carried text: one "
        "of them is wrong, so do not believe tokens per second; see what the server counts."
    )


def several_tokens(seen: Explanation) -> str | None:
    """Chunks of more than one token."""
    row = seen.row
    streamed = (row.output_tokens or 0) - (0 if seen.kinds.get("reasoning") else _reasoning(seen))
    least = max(SEVERAL * row.n_chunks, row.n_chunks + SEVERAL_AT_LEAST)
    if row.form != "stream" or row.n_chunks < 2 or streamed < least:
        return None
    return (
        f"A chunk holds {streamed / row.n_chunks:.1f} tokens on average ({streamed:,} tokens in "
        f"{row.n_chunks:,} chunks): the gap between chunks is not the time per token; read ITL and "
        "TPOT."
    )


def hidden_reasoning(seen: Explanation) -> str | None:
    """Reasoning tokens that were counted and never streamed."""
    n = _reasoning(seen)
    if not n or seen.kinds.get("reasoning"):
        return None
    return (
        f"{n:,} reasoning tokens were counted but not streamed: TTFT includes the time they took; "
        "compare it only with models that hide theirs too."
    )


def early_byte(seen: Explanation) -> str | None:
    """The first byte or the role came long before the first token."""
    first, token = seen.phases.first_byte_ms, seen.phases.first_token_ms
    if first is None or token is None or token - first < EARLY_MS or first * 2 > token:
        return None
    event = seen.phases.first_event_ms
    is_early = event is not None and token - event >= EARLY_MS
    what, tool = ("byte and event", "byte or event") if is_early else ("byte", "byte")
    return (
        f"The first {what} came {token - (event if is_early and event else first):,.0f} ms before "
        f"the first token, which came after {token:,.0f} ms: TTFB is not TTFT here; a tool that "
        f"times the first {tool} shows too little."
    )


def reasoning_first(seen: Explanation) -> str | None:
    """Reasoning before the visible answer."""
    first, visible = seen.phases.first_token_ms, seen.phases.first_visible_ms
    n = seen.kinds.get("reasoning", 0)
    if not n or first is None:
        return None
    if visible is None and seen.ok:
        return (
            f"All {counted(n, 'token event')} are reasoning, and the answer ended before anything "
            "was visible: there is no ttft_visible; ask for more output tokens, or switch thinking "
            "off."
        )
    if visible is None or visible <= first:
        return None
    return (
        f"It reasons first: the first token came after {first:,.0f} ms, the first visible one "
        f"after {visible:,.0f} ms; where people wait for the answer, set the objective on "
        "ttft_visible."
    )


def no_done(seen: Explanation) -> str | None:
    """The end is told by half."""
    row = seen.row
    if not seen.ok or row.form != "stream":
        return None
    if "done" not in seen.kinds and seen.asked.api in ("openai_chat", "openai_completions"):
        return (
            "The stream ends without [DONE]: Headway goes by its finish_reason, but clients that "
            "want [DONE] take such an answer for cut off."
        )
    if row.finish_reason is None:
        return (
            "The stream ends without a finish_reason: whether the model was done or was cut at "
            "max_tokens cannot be told."
        )
    return None


def fields_refused(seen: Explanation) -> str | None:
    """What the run leaves out of its requests."""
    names = seen.asked.dropped_fields
    if not names:
        return None
    what = {
        "stream_options": "token counts may be missing",
        "ignore_eos": "answers may end before the length asked for",
    }
    costs = "; ".join(what[name] for name in names if name in what)
    return (
        f"It refuses {' and '.join(names)}, which runs leave out: {costs or 'see the plan'}. "
        "Switch off the gateway's strict mode if you can."
    )


def length_ignored(seen: Explanation) -> str | None:
    """More or fewer tokens than asked for."""
    row, asked = seen.row, seen.asked
    output = row.output_tokens
    if output is None or not seen.ok or row.n_choices > 1:
        return None
    if output > asked.max_tokens:
        return (
            f"It made {output:,} tokens although {asked.max_tokens:,} were the most asked for: the "
            "server ignores max_tokens, so runs would not have the lengths planned; name its own "
            "field in workload.extra_body."
        )
    if output < asked.max_tokens and row.finish_reason == "length":
        return (
            f"It stopped for length after {output:,} of {asked.max_tokens:,} tokens: the server "
            "has a lower limit of its own; plan output_tokens below it."
        )
    if output < asked.max_tokens and asked.ignores_eos:
        return (
            f"It ended by itself after {output:,} of {asked.max_tokens:,} tokens although "
            "ignore_eos was sent: lengths will vary between requests, so compare per-token "
            "numbers, not E2E."
        )
    return None


def other_model(seen: Explanation) -> str | None:
    """The answer names another model than the request."""
    told, asked = seen.model, seen.asked.model
    if not told or told == asked or _is_alias(told, asked) or not seen.ok:
        return None
    return (
        f"It answers as {told!r} although {asked!r} was asked for: the server takes any name, so a "
        "mistyped one goes unnoticed; name the model as the server lists it."
    )


def model_alias(seen: Explanation) -> str | None:
    """The answer names a version or a longer form of the model asked for."""
    told, asked = seen.model, seen.asked.model
    if not told or told == asked or not _is_alias(told, asked) or not seen.ok:
        return None
    return (
        f"There the name {asked!r} stands for {told!r}, which may change under it: name that one "
        "in plans whose runs will be compared."
    )


def _is_alias(told: str, asked: str) -> bool:
    return told.startswith(asked) or told.endswith("/" + asked) or asked.endswith("/" + told)


def _reasoning(seen: Explanation) -> int:
    return seen.row.reasoning_tokens or 0
