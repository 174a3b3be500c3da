"""Choices offered on the New run page: whole plans for typical work, and names of endpoint APIs."""

from dataclasses import dataclass
from typing import Any

from loadgen.plan import Plan, parse

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


SIMULATED = {"url": "sim://small-gpu", "model": "small-gpu"}
FIRST_PRESET = "chat"


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan to begin with.  raw: all of it but the target.  open: fields nobody can guess."""

    title: str
    why: str
    raw: dict[str, Any]
    open: tuple[str, ...] = ()


def _levels(*streams: int, seconds: float = 20) -> list[dict[str, Any]]:
    return [{"concurrency": n, "seconds": seconds} for n in streams]


def _ttft(max_ms: float) -> list[dict[str, Any]]:
    return [{"metric": "ttft", "percentile": 95, "max_ms": max_ms}]


CHAT = {"prompt_tokens": 256, "output_tokens": 128}
PEOPLE = {
    "prompt_tokens": {"kind": "lognormal", "median": 200, "sigma": 0.8, "high": 4000},
    "output_tokens": {"kind": "lognormal", "median": 150, "sigma": 0.6, "high": 1000},
}
BATCH = {"prompt_tokens": 800, "output_tokens": 600}

PRESETS: dict[str, Preset] = {
    "chat": Preset(
        "Chat",
        "Short questions, answers of a few sentences, at 1 to 16 streams.",
        {"workload": CHAT, "stages": _levels(1, 2, 4, 8, 16), "slos": _ttft(1000)},
    ),
    "coding": Preset(
        "Coding assistant",
        "Files as context and a function as answer; the instructions before them are always the "
        "same.",
        {
            "workload": {
                "prompt_tokens": 2000,
                "output_tokens": 400,
                "prefix": {"tokens": 800},
            },
            "stages": _levels(1, 2, 4, 8, seconds=30),
            "slos": _ttft(1500),
        },
    ),
    "rag": Preset(
        "RAG 8k",
        "Eight thousand tokens of retrieved documents before the question: prefill work.",
        {
            "workload": {"prompt_tokens": 8000, "output_tokens": 300},
            "stages": _levels(1, 2, 4, seconds=40),
            "slos": _ttft(3000),
        },
    ),
    "batch": Preset(
        "Batch",
        "Nobody is watching: doubled until throughput stops growing.",
        {
            "workload": BATCH,
            "stages": [
                {"kind": "sweep", "doubling": {"start": 4, "most": 128}, "seconds": 60},
            ],
        },
    ),
    "mixed": Preset(
        "Mixed",
        "People who chat, and a nightly batch beside them on the same server.",
        {
            "classes": [
                {"name": "chat", "workload": PEOPLE, "slos": _ttft(1000)},
                {
                    "name": "nightly batch",
                    "load": {"concurrency": 4},
                    "workload": BATCH,
                    "slos": [],
                },
            ],
            "stages": [{"rate_per_s": rate, "seconds": 30} for rate in (1, 2)],
        },
    ),
    "spike": Preset(
        "Spike",
        "The lunchtime rush: five times the usual arrivals for half a minute.",
        {
            "workload": PEOPLE,
            "stages": [
                {
                    "rate_per_s": {"shape": "spike", "base": 1, "peak": 5, "at_s": 40, "for_s": 30},
                    "seconds": 120,
                }
            ],
            "slos": _ttft(1000),
        },
    ),
    "trace": Preset(
        "Trace",
        "Requests at the times and of the lengths that a server's log tells.",
        {"workload": CHAT, "stages": [{"kind": "replay", "file": "trace.csv"}]},
        open=("file",),
    ),
}
"""Name as in the URL -> what the New run page is filled in with."""


def preset_plan(name: str) -> Plan:
    """The preset with the simulator as its target."""
    return parse({"target": SIMULATED, **PRESETS[name].raw})


def api_title(name: str) -> str:
    """The API as its users call it; its own name where it is not listed above."""
    return API_TITLES.get(name, name)
