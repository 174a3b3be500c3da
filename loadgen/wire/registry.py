"""Every endpoint API by the name a plan gives it."""

from loadgen.wire.api import Api
from loadgen.wire.openai_chat import OpenAiChat
from loadgen.wire.openai_completions import OpenAiCompletions

APIS: dict[str, Api] = {
    "openai_chat": OpenAiChat(),
    "openai_completions": OpenAiCompletions(),
}
