"""Embeddings: an answer in one piece, without text."""

import pytest
from wire_events import one, whole

from loadgen.wire.api import Delta, UsageCount
from loadgen.wire.framing import ProtocolError

API = "openai_embeddings"
VECTORS = [{"object": "embedding", "index": i, "embedding": [0.1]} for i in range(2)]


def test_an_answer_tells_its_prompts_tokens_and_is_whole():
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    deltas = whole(API, {"object": "list", "data": VECTORS, "usage": usage})
    assert deltas == [Delta("usage", usage=UsageCount(prompt_tokens=8)), Delta("done")]


def test_an_answer_without_usage_is_whole_too():
    assert whole(API, {"data": VECTORS}) == [Delta("done")]
    assert whole(API, {"data": [{"embedding": "base64"}]}) == [Delta("done")]


@pytest.mark.parametrize("data", [[], None, "x", [{"index": 0}]])
def test_an_answer_without_an_embedding_is_none(data: object):
    with pytest.raises(ProtocolError, match="no embedding"):
        whole(API, {"object": "list", "data": data})


def test_an_error_of_vllm_is_one():
    error = {"object": "error", "message": "too long", "code": 400}
    assert one(API, error) == Delta("error", error="too long", error_code=400)
