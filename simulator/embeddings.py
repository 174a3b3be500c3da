"""OpenAI's /v1/embeddings: one engine job for each input, over once its prompt is computed."""

import base64
import struct
import zlib
from dataclasses import replace
from random import Random
from typing import Any

import orjson

from simulator.answer import Finish
from simulator.api import Api, Job, fields
from simulator.ask import Ask, Posted, Words, bad_request
from simulator.body import field, limit, plain_ask, prompt_words
from simulator.openai_request import refuse

DIMENSIONS = 8


def parse(posted: Posted) -> Ask:
    """The request as values: `input` is a text, token ids, or a list of either."""
    body = posted.body
    given = body.get("input")
    if not isinstance(given, list) or (given and isinstance(given[0], int)):
        given = [given]
    if not given:
        raise bad_request("input must hold at least one text.", "input")
    inputs = tuple(prompt_words(one, "input") for one in given)
    if limit(body, "dimensions") not in (None, DIMENSIONS):
        raise bad_request(f"This model's vectors have {DIMENSIONS} dimensions.", "dimensions")
    coding = field(body, "encoding_format", str) or "float"
    if coding not in ("float", "base64"):
        raise bad_request("encoding_format must be float or base64.", "encoding_format")
    return replace(
        plain_ask(posted, inputs[0], 0),
        inputs=inputs,
        is_streamed=False,
        thinks=False,
        wants=frozenset(("base64",) if coding == "base64" else ()),
    )


def whole_answer(job: Job, finish: Finish) -> bytes:
    """A vector for each input, the same for the same words."""
    n_tokens = finish.usage.prompt_tokens
    return orjson.dumps(
        {
            "id": job.head.answer_id,
            "object": "list",
            "created": job.head.created_s,
            "model": job.head.model,
            "data": [
                {"object": "embedding", "index": i, "embedding": _embedding(words, job.ask)}
                for i, words in enumerate(job.ask.inputs)
            ],
            "usage": {"prompt_tokens": n_tokens, "total_tokens": n_tokens},
        }
    )


def _embedding(words: Words, ask: Ask) -> Any:
    rng = Random(zlib.crc32(" ".join(map(str, words)).encode()))
    vector = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(x * x for x in vector) ** 0.5
    unit = [x / length for x in vector]
    if "base64" in ask.wants:
        return base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *unit)).decode()
    return unit


EMBEDDINGS = Api(
    name="embeddings",
    paths=("/v1/embeddings",),
    id_prefix="embd-",
    fields=fields("input model dimensions encoding_format user"),
    parse=parse,
    refuse=refuse,
    whole=whole_answer,
    events=None,
)
