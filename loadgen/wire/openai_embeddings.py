"""OpenAI embeddings: one answer for one prompt or a batch of them, always in one piece.

Source: https://platform.openai.com/docs/api-reference/embeddings
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta
from loadgen.wire.event_json import DONE, error_delta, load_object, objects
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.messages import text_of
from loadgen.wire.openai_chunk import usage_of
from loadgen.wire.request_json import bearer, request_json
from loadgen.wire.server_timings import timings_of
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OpenAiEmbeddings:
    """POST /v1/embeddings.  No text, no tokens put out: what counts is the prompts' tokens."""

    name: str = "openai_embeddings"
    path: str = "/v1/embeddings"
    whole_path: str = "/v1/embeddings"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = False
    knows_ignore_eos: bool = True  # there is nothing to go on with
    done_line: re.Pattern[bytes] | None = None

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The prompt; of several, each is the plan's prompt with its words moved on by one."""
        prompt, n = text_of(planned), planned.inputs
        given = prompt if n == 1 else [_moved(prompt, i) for i in range(n)]
        return request_json({"model": model, "input": given}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The answer, should a server wrap it into an event."""
        return self.decode_whole(load_object(event.data))

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The usage, and that the answer is whole; one that holds no embedding is none."""
        if document.get("error") or document.get("object") == "error":
            return [error_delta(document)]
        if not any("embedding" in item for item in objects(document.get("data"))):
            raise ProtocolError("The answer holds no embedding.")
        usage, timings = usage_of(document), timings_of(document)
        told = [Delta("usage", usage=usage, timings=timings)] if usage or timings else []
        return [*told, DONE]


def _moved(prompt: str, n_words: int) -> str:
    """Another prompt of the same words: a batch of equal ones would be answered from a cache."""
    words = prompt.split()
    at = n_words % len(words) if words else 0
    return " ".join(words[at:] + words[:at])
