"""Choices offered on the New run page: lengths of typical work, and names of endpoint APIs."""

from dataclasses import dataclass

API_TITLES = {
    "openai_chat": "OpenAI chat",
    "openai_completions": "OpenAI completions",
    "openai_responses": "OpenAI Responses",
    "openai_embeddings": "OpenAI embeddings",
    "anthropic_messages": "Anthropic Messages",
    "ollama_chat": "Ollama chat",
    "ollama_generate": "Ollama generate",
    "tgi": "TGI generate_stream",
    "llamacpp": "llama.cpp completion",
}


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens in and out of one request, and where such requests come from."""

    prompt_tokens: int
    output_tokens: int
    why: str


WORKLOADS: dict[str, Lengths] = {
    "Chat": Lengths(256, 128, "A short question, an answer of a few sentences."),
    "Long prompt": Lengths(
        4000, 200, "Retrieved documents in front of the question: prefill work."
    ),
    "Coding": Lengths(1500, 400, "A file as context, a function as answer."),
    "Batch": Lengths(800, 600, "Nobody is watching: throughput counts, not the first token."),
}
CUSTOM = "Own lengths"


def api_title(name: str) -> str:
    """The API as its users call it; its own name where it is not listed above."""
    return API_TITLES.get(name, name)
