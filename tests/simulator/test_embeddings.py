"""Embeddings as the simulator answers them."""

import base64
import json
import struct
from random import Random
from typing import Any

import pytest
from simulated import answered

from simulator.ask import ApiError
from simulator.engine import Engine
from simulator.engine_config import EngineConfig
from simulator.sequence import EngineRequest

PATH = "/v1/embeddings"


def ask(given: Any, *settings: str, **fields: Any) -> dict[str, Any]:
    return json.loads(answered(PATH, {"input": given, **fields}, *settings))


def test_each_input_gets_a_vector_and_all_are_counted():
    answer = ask(["a b", "c", "a b"])
    vectors = [entry["embedding"] for entry in answer["data"]]
    assert [entry["index"] for entry in answer["data"]] == [0, 1, 2]
    assert vectors[0] == vectors[2] != vectors[1]
    assert [len(vector) for vector in vectors] == [8, 8, 8]
    assert answer["usage"] == {"prompt_tokens": 5, "total_tokens": 5}
    assert (answer["object"], answer["data"][0]["object"]) == ("list", "embedding")


@pytest.mark.parametrize("given", ["a b", [7, 8], [[7, 8]]])
def test_one_input_may_be_a_text_or_token_ids(given: Any):
    answer = ask(given)
    assert (len(answer["data"]), answer["usage"]["prompt_tokens"]) == (1, 2)


def test_base64_holds_the_same_numbers():
    coded = ask("a b", encoding_format="base64")["data"][0]["embedding"]
    numbers = struct.unpack("<8f", base64.b64decode(coded))
    assert numbers == pytest.approx(ask("a b")["data"][0]["embedding"])


@pytest.mark.parametrize("given", [[], None, [{}], 3])
def test_what_is_no_input_is_refused(given: Any):
    with pytest.raises(ApiError):
        ask(given)


def test_dimensions_other_than_its_own_are_refused():
    with pytest.raises(ApiError, match="8 dimensions"):
        ask("a", dimensions=512)


def test_the_engine_is_done_when_the_prompt_is_computed():
    engine = Engine(EngineConfig(step_ns=100, prefill_token_ns=10, token_budget=16), Random(1))
    sequence = engine.submit(EngineRequest(1, prompt_tokens=20, output_tokens=0), 0)
    steps = [engine.step(), engine.step(), engine.step()]
    assert steps[2] is None
    assert (sequence.generated, sequence.last_token_ns) == (0, 100 + 160 + 100 + 40)
    assert sequence.is_over
    assert not engine.has_work
    assert engine.blocks.used == 0
