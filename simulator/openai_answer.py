"""OpenAI answers as bytes: the events of a stream, and the one object of a plain answer."""

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from simulator.openai_request import Api

Kind = Literal["content", "reasoning"]

DONE = b"data: [DONE]\n\n"
ENGINE_FAILED = (
    b"data: "
    + orjson.dumps(
        {
            "error": {
                "message": "EngineCore encountered an issue. (x_sim_fault asked for it.)",
                "type": "InternalServerError",
                "param": None,
                "code": 500,
            }
        }
    )
    + b"\n\n"
)
GARBAGE = b'data: {"id":"chatcmpl-garbage","choices":[{"index":0,"del\n\n'

_MARK = "\x00"  # stands for the text in an event built once and cut in two there
_MARK_JSON = rb"\u0000"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one answer."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int

    def to_dict(self) -> dict[str, Any]:
        """The OpenAI object."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "completion_tokens": self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        }


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What all events of one answer share."""

    answer_id: str
    created_s: int
    model: str


class StreamEvents:
    """The events of one streamed answer.

    A token event is `parts[kind]`: bytes before its text and after it, made once, so that an event
    costs one concatenation.  The text must need no JSON escapes.
    """

    def __init__(self, api: Api, head: AnswerHead) -> None:
        self._is_chat = api == "chat"
        self._common: dict[str, Any] = {
            "id": head.answer_id,
            "object": "chat.completion.chunk" if self._is_chat else "text_completion",
            "created": head.created_s,
            "model": head.model,
        }
        self.parts = {"content": self._parts("content"), "reasoning": self._parts("reasoning")}

    def role(self, usage: Usage | None) -> bytes | None:
        """The event before the first token; the completions API has none."""
        if not self._is_chat:
            return None
        return self._event(self._choice({"role": "assistant", "content": ""}, None), usage)

    def tokens(self, kind: Kind, text: bytes, usage: Usage) -> bytes:
        """A token event with running usage (continuous_usage_stats)."""
        before, after = self.parts[kind]
        return before + text + after[: -len(b"}\n\n")] + _usage_field(usage) + b"}\n\n"

    def finish(self, reason: str, usage: Usage | None) -> bytes:
        """The event without text that says why the answer ended."""
        choice = self._choice({}, reason) if self._is_chat else self._text_choice("", reason)
        return self._event(choice, usage)

    def usage(self, usage: Usage) -> bytes:
        """The event without choices that stream_options.include_usage asks for."""
        return (
            b"data: "
            + orjson.dumps({**self._common, "choices": []})[:-1]
            + (_usage_field(usage) + b"}\n\n")
        )

    def _parts(self, kind: Kind) -> tuple[bytes, bytes]:
        field = "content" if kind == "content" else "reasoning_content"
        choice = self._choice({field: _MARK}, None) if self._is_chat else self._text_choice(_MARK)
        before, after = self._event(choice, None).rsplit(_MARK_JSON, 1)
        return before, after

    def _event(self, choice: dict[str, Any], usage: Usage | None) -> bytes:
        body = orjson.dumps({**self._common, "choices": [choice]})
        if usage is not None:
            body = body[:-1] + _usage_field(usage) + b"}"
        return b"data: " + body + b"\n\n"

    @staticmethod
    def _choice(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}

    @staticmethod
    def _text_choice(text: str, reason: str | None = None) -> dict[str, Any]:
        return {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}


def plain_answer(
    api: Api, head: AnswerHead, texts: dict[Kind, str], ending: tuple[str, Usage]
) -> bytes:
    """The whole answer of a request that is not streamed; `ending` = finish reason and usage."""
    reason, usage = ending
    choice: dict[str, Any] = {"index": 0, "logprobs": None, "finish_reason": reason}
    if api == "chat":
        message: dict[str, Any] = {"role": "assistant", "content": texts["content"]}
        if texts["reasoning"]:
            message["reasoning_content"] = texts["reasoning"]
        choice["message"] = message
    else:
        choice["text"] = texts["content"]
    return orjson.dumps(
        {
            "id": head.answer_id,
            "object": "chat.completion" if api == "chat" else "text_completion",
            "created": head.created_s,
            "model": head.model,
            "choices": [choice],
            "usage": usage.to_dict(),
        }
    )


def _usage_field(usage: Usage) -> bytes:
    return b',"usage":' + orjson.dumps(usage.to_dict())
