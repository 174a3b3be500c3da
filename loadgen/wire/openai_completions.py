"""OpenAI's older text completions: each choice carries `text`, there is no role event."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.framing import WireEvent
from loadgen.wire.messages import text_of
from loadgen.wire.openai_chunk import (
    DONE_LINE,
    decode_chunk,
    decode_whole,
    request_body,
    told_tokens,
)
from loadgen.wire.request_json import bearer
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OpenAiCompletions:
    """POST /v1/completions with `stream`."""

    name: str = "openai_completions"
    path: str = "/v1/completions"
    whole_path: str = "/v1/completions"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = True
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare text; asks for usage at the end."""
        return request_body(planned, model, {"prompt": text_of(planned)}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's deltas, one per choice."""
        return decode_chunk(event, _read_choice)

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The same of an answer in one piece."""
        return decode_whole(document, _read_choice)


def _read_choice(choice: dict[str, Any]) -> tuple[Kind, str, int]:
    text = choice.get("text")
    if text and isinstance(text, str):
        return "content", text, told_tokens(choice)
    return "empty", "", told_tokens(choice)
