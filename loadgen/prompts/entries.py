"""One row of a prompt file as what is sent: a text, messages, or the turns of a conversation."""

import re
from dataclasses import dataclass
from typing import Any, cast

from loadgen.plan_lengths import MOST_TOKENS

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """turns: what the user says; a prompt is one turn.  messages: sent as they are, instead.

    outputs: the answer to each turn, as a number of tokens or as a text to count; None: unknown.
    """

    turns: tuple[str, ...] = ()
    messages: list[Message] | None = None
    outputs: tuple[int | str | None, ...] = (None,)

    def texts(self) -> list[str]:
        """What is counted as the prompt of each turn; of messages their text, not their images."""
        if self.messages is None:
            return list(self.turns)
        return ["\n".join(text for message in self.messages for text in _texts(message))]


class BadEntry(ValueError):
    """A row is no prompt; what it says is the end of a sentence that begins with the row."""


def entry_of(prompt: Any, output: Any) -> Entry:
    """A row's prompt and its answer's length, or its answer; raises BadEntry."""
    length = _output(output)
    if isinstance(prompt, str) and prompt.strip():
        return Entry((prompt,), outputs=(length,))
    if isinstance(prompt, list) and prompt:
        return Entry(messages=_messages(cast("list[Any]", prompt)), outputs=(length,))
    if isinstance(prompt, str | list):
        raise BadEntry("has a void prompt")
    kind = type(prompt).__name__
    raise BadEntry(f"has a prompt that is a {kind}; expected a text or a list of messages")


def sharegpt_entry(row: dict[str, Any]) -> Entry:
    """A ShareGPT conversation: what people said by turns, and what was answered to each.

    It begins with the first thing a human says; a human's last words without an answer count.
    Raises BadEntry.
    Source: the files of https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered
    """
    said = row.get("conversations", row.get("conversation"))
    if not isinstance(said, list):
        raise BadEntry("has no conversations")
    turns: list[str] = []
    outputs: list[int | str | None] = []
    for part in cast("list[Any]", said):
        who, text = _who_said(part)
        if who == "human" and len(turns) == len(outputs):
            if not text.strip():
                raise BadEntry("has a void turn")
            turns.append(text)
        elif who == "gpt" and len(turns) == len(outputs) + 1:
            outputs.append(text or None)
        elif who == "?" or turns:
            raise BadEntry("has turns that do not alternate between human and gpt")
    if not turns:
        raise BadEntry("has no turn of a human")
    missing = len(turns) - len(outputs)
    return Entry(tuple(turns), outputs=(*outputs, *[None] * missing))


_SPEAKERS = {"human": "human", "user": "human", "gpt": "gpt", "assistant": "gpt", "chatgpt": "gpt"}
_OTHERS = ("system", "tool", "function", "observation", "bing", "bard")


def _who_said(part: Any) -> tuple[str, str]:
    """("human", "gpt", "" for one who is left out, "?" for nonsense) and the text."""
    if not isinstance(part, dict):
        return "?", ""
    said = cast("dict[str, Any]", part)
    who, text = said.get("from", said.get("role")), said.get("value", said.get("content"))
    if not isinstance(text, str) or not isinstance(who, str):
        return "?", ""
    return _SPEAKERS.get(who, "" if who in _OTHERS else "?"), text


def _messages(given: list[Any]) -> list[Message]:
    for i, message in enumerate(given):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadEntry(f"has messages[{i}] without a role; expected {{role, content}}")
        if not isinstance(message.get("content"), str | list | None):
            raise BadEntry(f"has messages[{i}].content that is neither a text nor a list of parts")
    return cast("list[Message]", given)


_NUMBER = re.compile(r"-?[0-9]{1,8}(\.[0-9]{1,8})?")  # also 128.0, as tables with gaps have it


def _output(output: Any) -> int | str | None:
    """A number of tokens, also as a CSV's cell, or a text; raises BadEntry if it is neither."""
    if output is None or output == "":
        return None
    if isinstance(output, str):
        return _output(float(output)) if _NUMBER.fullmatch(output.strip()) else output
    if isinstance(output, float) and output.is_integer():
        output = int(output)
    if isinstance(output, int) and not isinstance(output, bool) and 1 <= output <= MOST_TOKENS:
        return output
    expected = f"a number from 1 to {MOST_TOKENS:,}"
    raise BadEntry(f"has {str(output)[:40]!r} as its answer's length; expected {expected}")


def _texts(message: Message) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    found = [cast("dict[str, Any]", part).get("text") for part in parts if isinstance(part, dict)]
    return [text for text in found if isinstance(text, str)]
