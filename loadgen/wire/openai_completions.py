"""OpenAI's older text completions: each choice carries `text`, there is no role event."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.framing import WireEvent
from loadgen.wire.openai_chunk import decode_chunk, request_body, told_tokens
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OpenAiCompletions:
    """POST /v1/completions with `stream`."""

    name: str = "openai_completions"
    path: str = "/v1/completions"
    framing: type[SseFraming] = SseFraming

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare prompt; asks for usage at the end."""
        return request_body(planned, model, {"prompt": planned.prompt}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's deltas, one per choice."""
        return decode_chunk(event, _read_choice)


def _read_choice(choice: dict[str, Any]) -> tuple[Kind, int, int]:
    text = choice.get("text")
    if text and isinstance(text, str):
        return "content", len(text), told_tokens(choice)
    return "empty", 0, told_tokens(choice)
