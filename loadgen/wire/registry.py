"""Every endpoint API by the name a plan gives it."""

from loadgen.wire.anthropic_messages import AnthropicMessages
from loadgen.wire.api import Api
from loadgen.wire.llamacpp import LlamaCpp
from loadgen.wire.ollama_chat import OllamaChat
from loadgen.wire.ollama_generate import OllamaGenerate
from loadgen.wire.openai_chat import OpenAiChat
from loadgen.wire.openai_completions import OpenAiCompletions
from loadgen.wire.openai_embeddings import OpenAiEmbeddings
from loadgen.wire.openai_responses import OpenAiResponses
from loadgen.wire.tgi import Tgi

APIS: dict[str, Api] = {
    "openai_chat": OpenAiChat(),
    "openai_completions": OpenAiCompletions(),
    "openai_responses": OpenAiResponses(),
    "anthropic_messages": AnthropicMessages(),
    "ollama_chat": OllamaChat(),
    "ollama_generate": OllamaGenerate(),
    "tgi": Tgi(),
    "llamacpp": LlamaCpp(),
    "openai_embeddings": OpenAiEmbeddings(),
}
