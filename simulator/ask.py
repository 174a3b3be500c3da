"""What one request asks of the server, by whichever API it came, and the errors that refuse it."""

from dataclasses import dataclass
from typing import Any, Literal

from simulator.faults import Fault

Word = str | int
Words = tuple[Word, ...]
Want = Literal[
    "usage", "running_usage", "logprobs", "token_ids", "metrics", "details", "summary", "base64"
]


class ApiError(Exception):
    """A request the server refuses; each API has its own shape for it."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param
        self.retry_after_s: int | None = None


def bad_request(message: str, param: str | None) -> ApiError:
    """A 400 of the kind vLLM gives for values it cannot serve."""
    return ApiError(400, message, "BadRequestError", param)


@dataclass(frozen=True, slots=True)
class Posted:
    """A POST that is JSON, not yet understood."""

    path: str
    body: dict[str, Any]
    fault: Fault


@dataclass(frozen=True, slots=True)
class Ask:
    """What one request asks for."""

    inputs: tuple[Words, ...]  # embeddings may have several, everything else has one
    model: str | None  # None: the server's own
    max_tokens: int | None  # None: as the model likes; 0: no output at all (embeddings)
    ignore_eos: bool
    seed: int | None
    is_streamed: bool
    thinks: bool  # False: a thinking model's thoughts are plain text, or are switched off
    wants: frozenset[Want]
    fault: Fault

    @property
    def prompt_tokens(self) -> int:
        """Of all inputs."""
        return sum(len(words) for words in self.inputs)
