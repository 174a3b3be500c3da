"""One request as the plan wants it, and the visit of a user that it belongs to."""

from typing import Any, Literal, NamedTuple

Phase = Literal["warmup", "measure"]


class PlannedRequest(NamedTuple):
    """One request as the plan wants it.

    due_ns: from the level's begin, None if closed.  prompt_tokens: of all inputs, None if nobody
    could count them.  turns: how many the conversation has that we
    hold with the server; 1 for a row of a trace, whose prompt already holds what was said before.
    """

    request_id: int
    stage: int
    due_ns: int | None
    prompt: str
    prompt_tokens: int | None
    max_tokens: int
    ignore_eos: bool
    is_streamed: bool = True  # False: one answer in one piece
    inputs: int = 1  # prompts per request (embeddings)
    traffic: int = 0  # index into plan.traffic()
    messages: list[dict[str, Any]] | None = None  # None: one user message, the prompt
    conversation: int | None = None  # its number within the level and class
    turn: int | None = None
    turns: int = 1
    prefix_group: int | None = None
    prompt_no: int | None = None  # identity of a prompt that may come again
    phase: Phase = "measure"


class Visit(NamedTuple):
    """What a user does in one go: a request, or the turns of a conversation.

    number: counts those of its level and class.  due_ns: from the level's begin; None if closed,
    then pause_ns is the user's pause before it.
    """

    traffic: int
    number: int
    turns: int
    due_ns: int | None
    pause_ns: int = 0
