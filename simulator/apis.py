"""The APIs the simulator speaks; a new one is a file with an Api, and a line here."""

from simulator import ollama
from simulator.anthropic import MESSAGES
from simulator.api import Api
from simulator.embeddings import EMBEDDINGS
from simulator.llamacpp import COMPLETION
from simulator.openai_answer import CHAT, COMPLETIONS
from simulator.responses import RESPONSES
from simulator.tgi import TGI

APIS: dict[str, Api] = {
    api.name: api
    for api in (
        CHAT,
        COMPLETIONS,
        RESPONSES,
        EMBEDDINGS,
        MESSAGES,
        ollama.CHAT,
        ollama.GENERATE,
        TGI,
        COMPLETION,
    )
}
BY_PATH: dict[str, Api] = {path: api for api in APIS.values() for path in api.paths}
