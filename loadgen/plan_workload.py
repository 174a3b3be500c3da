"""What requests ask for: prompts and their lengths, shared prefixes, files, conversations."""

from typing import Annotated, Any, Literal

from pydantic import Field

from loadgen.plan_lengths import MOST_TOKENS, Length, Think
from loadgen.plan_parts import Part


class Prefix(Part):
    """The first tokens that prompts have in common: system prompts, documents, examples."""

    tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)]
    share: Annotated[float, Field(gt=0, le=1)] = 1  # of the requests, the others have none
    groups: Annotated[int, Field(ge=1, le=1_000_000)] = 1  # so many different ones, equally likely


class PromptFile(Part):
    """Prompts of one's own."""

    path: Annotated[str, Field(min_length=1)]
    format: Literal["auto", "jsonl", "sharegpt", "csv"] = "auto"
    prompt_column: str | None = None
    output_column: str | None = None  # tokens to answer with; else workload.output_tokens
    order: Literal["as_is", "shuffled"] = "as_is"


class Conversation(Part):
    """Several turns of one user: each request carries all that was said before."""

    turns: Length
    think_s: Think = 0  # between an answer's end and the next question


class Workload(Part):
    """What each request asks for; lengths in tokens."""

    prompt_tokens: Length = 256
    output_tokens: Length = 128
    ignore_eos: bool = True  # sent only to servers that know it
    unique_prompts: bool = True  # differing first words, so that no prefix cache hits
    stream: bool = True  # False: answers in one piece, which have an E2E but no TTFT
    inputs_per_request: Annotated[int, Field(ge=1, le=10_000)] = 1  # embeddings: texts at once
    extra_body: dict[str, Any] = Field(
        default_factory=dict[str, Any]
    )  # merged into each request's JSON body
    prefix: Prefix | None = None
    file: PromptFile | None = None
    conversation: Conversation | None = None
    count_by: Literal["auto", "tokenizer", "server", "words"] = "auto"
