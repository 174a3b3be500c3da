"""What an API is to the server, and a request that one of them accepted."""

from collections.abc import Callable
from dataclasses import dataclass

from simulator import text
from simulator.answer import AnswerHead, Finish, Kind, StreamEvents
from simulator.answer_length import AnswerLength
from simulator.ask import ApiError, Ask, Posted
from simulator.truth_log import RequestTruth

SSE = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Api:
    """One protocol: how requests are read and answers are written."""

    name: str
    paths: tuple[str, ...]  # POST
    id_prefix: str
    fields: frozenset[str]  # those its documentation knows at the top level of a body
    parse: Callable[[Posted], Ask]  # raises ApiError
    refuse: Callable[[ApiError], tuple[int, bytes]]  # status and body
    whole: Callable[["Job", Finish], bytes]
    events: Callable[["Job"], StreamEvents] | None  # None: it only knows whole answers
    content_type: str = SSE  # of a stream
    key_headers: tuple[str, ...] = ("Authorization",)  # any of them may carry the key


@dataclass(frozen=True, slots=True)
class Job:
    """A request the server accepted; `number` is the engine's name for it."""

    number: int
    api: Api
    ask: Ask
    head: AnswerHead
    length: AnswerLength
    truth: RequestTruth | None

    @property
    def first_position(self) -> int:
        """Where in the endless text this answer begins."""
        return text.first_position(self.head.answer_id)

    def text(self, kind: Kind) -> str:
        """All the text of one kind; known before the first token is there."""
        start, n_thinking = self.first_position, self.length.thinking_tokens
        if kind == "reasoning":
            return text.tokens(start, n_thinking).decode()
        n_tokens = self.length.output_tokens - n_thinking
        return text.tokens(start + n_thinking, n_tokens).decode()


def fields(names: str) -> frozenset[str]:
    """Field names written as words."""
    return frozenset(names.split())
