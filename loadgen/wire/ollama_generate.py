"""Ollama's /api/generate: newline-delimited JSON, a piece of response or thinking in each line.

Source: https://docs.ollama.com/api/generate
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.event_json import text
from loadgen.wire.framing import WireEvent
from loadgen.wire.messages import text_of
from loadgen.wire.ndjson import NdjsonFraming
from loadgen.wire.ollama_line import DONE_LINE, decode_line, decode_whole, request_line
from loadgen.wire.request_json import bearer

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OllamaGenerate:
    """POST /api/generate."""

    name: str = "ollama_generate"
    path: str = "/api/generate"
    whole_path: str = "/api/generate"
    framing: type[NdjsonFraming] = NdjsonFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = False
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token, which a proxy before Ollama asks for."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare text, which Ollama puts into the model's template."""
        return request_line(planned, model, {"prompt": text_of(planned)}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The line's delta."""
        return decode_line(event, _read_line)

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """An answer in one piece: a delta for each kind of text."""
        return decode_whole(document, _read_line)


def _read_line(said: dict[str, Any]) -> dict[Kind, str]:
    return {"content": text(said.get("response")), "reasoning": text(said.get("thinking"))}
