"""A request's messages in the words of each API: chats take them, the older APIs one text.

Messages come in OpenAI's form ({role, content}, content a text or a list of parts), whichever API
they go to: a file of prompts serves them all.  Parts of an API's own form pass as they are.
"""

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from loadgen.planned import PlannedRequest

Fields = dict[str, Any]

DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")
BETWEEN = "\n\n"
IMAGE_MARK = re.compile(rb'"type": ?"(?:image|image_url|input_image)"')
"""In a message's JSON; in a text its quotes would be escaped."""
TAKES_IMAGES = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat")


def messages_of(planned: "PlannedRequest") -> list[Fields]:
    """What is said before and now: the request's messages, or its prompt as the user's words."""
    return planned.messages or [{"role": "user", "content": planned.prompt}]


def text_of(planned: "PlannedRequest") -> str:
    """For APIs that know no messages: the texts of all of them with a void line between them.

    So the text of a conversation's turn begins with all of the turn before it, and a prefix cache
    finds what it would find in a chat.
    """
    if planned.messages is None:
        return planned.prompt
    return BETWEEN.join(text_in(message.get("content")) for message in planned.messages)


def text_in(content: Any) -> str:
    """The text of a message's content, without its images."""
    if isinstance(content, str):
        return content
    return BETWEEN.join(part["text"] for part in parts_of(content) if _is_text(part))


def parts_of(content: Any) -> list[Fields]:
    """The parts of a content that is a list of them."""
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, dict)]


def responses_input(planned: "PlannedRequest") -> str | list[Fields]:
    """For OpenAI Responses: a bare prompt, or messages whose parts have other names there."""
    if planned.messages is None:
        return planned.prompt
    return [_with_parts(message, _responses_part) for message in planned.messages]


def anthropic_messages(planned: "PlannedRequest") -> Fields:
    """For Anthropic: `messages`, and what the system says in a field of its own."""
    said = messages_of(planned)
    system = BETWEEN.join(text_in(m.get("content")) for m in said if m.get("role") == "system")
    rest = [_with_parts(m, _anthropic_part) for m in said if m.get("role") != "system"]
    return {"messages": rest} | ({"system": system} if system else {})


def ollama_messages(planned: "PlannedRequest") -> list[Fields]:
    """For Ollama: a text, and beside it the images as bare base64."""
    return [_ollama_message(message) for message in messages_of(planned)]


def _with_parts(message: Fields, part_of: Any) -> Fields:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [part_of(part) for part in parts_of(content)]}


def _responses_part(part: Fields) -> Fields:
    if _is_text(part):
        return {"type": "input_text", "text": part["text"]}
    url = _image_url(part)
    return {"type": "input_image", "image_url": url} if url is not None else part


def _anthropic_part(part: Fields) -> Fields:
    url = _image_url(part)
    if url is None:
        return part
    if found := DATA_URL.match(url):
        image = {"type": "base64", "media_type": found.group(1), "data": url[found.end() :]}
        return {"type": "image", "source": image}
    return {"type": "image", "source": {"type": "url", "url": url}}


def _ollama_message(message: Fields) -> Fields:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    urls = [url for part in parts_of(content) if (url := _image_url(part)) is not None]
    said = {**message, "content": text_in(content)}
    return said | ({"images": [DATA_URL.sub("", url, 1) for url in urls]} if urls else {})


def _is_text(part: Fields) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)


def _image_url(part: Fields) -> str | None:
    """Of OpenAI's image_url part, whose URL is an object's field or, in some files, the field."""
    if part.get("type") != "image_url":
        return None
    image = part.get("image_url")
    url = cast("Fields", image).get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) else None
