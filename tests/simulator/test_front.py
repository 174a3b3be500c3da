"""How the server behaves in front of its engine: refused fields, codings, keys, closing."""

import http.client
import json
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
from simulated import CHAT, COMPLETIONS, Server, events, simulator

from simulator.ask import ApiError
from simulator.front import Front, encoder

HELLO = {"messages": [{"role": "user", "content": "hello there"}]}
ASK: dict[str, Any] = {"prompt": "a b", "max_tokens": 6, "ignore_eos": True}
FAST = ("--set", "step_ns=2000000")
KNOWN = frozenset({"prompt", "max_tokens", "stream_options"})
slow = pytest.mark.slow


def inflater(coding: str) -> Callable[[bytes], bytes]:
    if coding == "br":
        return brotli.Decompressor().process
    return zlib.decompressobj(wbits=31 if coding == "gzip" else 15).decompress


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_each_piece_of_a_coded_body_can_be_read_at_once(coding: str):
    coder, inflate = encoder(coding), inflater(coding)
    assert coder is not None
    for piece in (b"data: one\n\n", b"data: two\n\n"):
        assert inflate(coder.part(piece)) == piece
    assert inflate(coder.end()) == b""


def test_fields_can_be_refused_by_name_or_all_that_are_unknown():
    body = {"prompt": "a", "ignore_eos": True, "stream_options": {}, "x_sim_fault": ""}
    Front().check_fields(body, KNOWN)
    with pytest.raises(ApiError, match='unknown field "stream_options"') as refused:
        Front(refuse_fields="seed,stream_options").check_fields(body, KNOWN)
    assert (refused.value.status, refused.value.param) == (400, "stream_options")
    with pytest.raises(ApiError, match=r"Unexpected fields in the request: \{'ignore_eos'\}"):
        Front(refuse_fields="*", refuse_status=422).check_fields(body, KNOWN)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("coding", "zip", "identity, gzip, deflate, br"),
        ("closes_after", "lunch", "nothing, streams or answers"),
        ("refuse_status", 500, "400 or 422"),
    ],
)
def test_a_wrong_manner_is_a_sentence(field: str, value: Any, word: str):
    with pytest.raises(ValueError, match=word):
        Front(**{field: value})


def coded(server: Server, is_streamed: bool) -> tuple[str | None, list[bytes]]:
    """The content coding of an answer, and its body as it came, chunk by chunk."""
    connection = server.connect()
    body = json.dumps({**ASK, "stream": is_streamed}).encode()
    connection.request("POST", COMPLETIONS, body, {"Accept-Encoding": "identity"})
    response = connection.getresponse()
    reads = list(iter(lambda: response.read1(65536), b""))
    connection.close()
    return response.getheader("Content-Encoding"), reads


@slow
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_answers_come_in_a_coding_nobody_asked_for(coding: str):
    with simulator("--profile", "small-gpu", *FAST, "--set", f"coding={coding}") as server:
        told, reads = coded(server, is_streamed=True)
        inflate = inflater(coding)
        pieces = [inflate(read) for read in reads]
        assert told == coding
        assert events(b"".join(pieces))[-1] == "[DONE]"
        assert sum(piece.count(b"data: ") > 0 for piece in pieces) > 3, "token by token"
        told, reads = coded(server, is_streamed=False)
        answer = json.loads(inflater(coding)(b"".join(reads)))
        assert (told, answer["usage"]["completion_tokens"]) == (coding, 6)


@slow
def test_unknown_fields_are_refused_as_transformers_does():
    strict = ("--set", "refuse_fields=*", "--set", "refuse_status=422")
    with simulator("--profile", "null", *strict) as server:
        assert server.ask(COMPLETIONS, ASK) == (
            422,
            b'{"detail":"Unexpected fields in the request: {\'ignore_eos\'}"}',
        )
        assert server.ask(CHAT, {**HELLO, "stream_options": {"include_usage": True}})[0] == 200
        assert server.ask("/api/chat", {"model": "null", **HELLO, "ignore_eos": True})[0] == 422


@slow
@pytest.mark.parametrize(
    ("closes_after", "stays"), [("streams", [False, True]), ("answers", [False, False])]
)
def test_the_connection_closes_though_it_was_promised_to_stay(closes_after: str, stays: list[bool]):
    with simulator("--profile", "null", "--set", f"closes_after={closes_after}") as server:
        got = [stays_open(server, is_streamed) for is_streamed in (True, False)]
        assert got == stays
        assert server.metric("vllm:request_success_total", finished_reason="abort") == 0


def stays_open(server: Server, is_streamed: bool) -> bool:
    """True if a second request on the same connection is answered."""
    connection = server.connect()
    body = json.dumps({**ASK, "stream": is_streamed}).encode()
    connection.request("POST", COMPLETIONS, body)
    response = connection.getresponse()
    assert response.getheader("Keep-Alive") == "timeout=5, max=100"
    assert response.getheader("Connection") != "close"
    assert response.read(), "the answer itself is whole"
    try:
        connection.request("POST", COMPLETIONS, body)
        return bool(connection.getresponse().read())
    except (http.client.HTTPException, ConnectionError):
        return False
    finally:
        connection.close()


@slow
def test_each_api_wants_the_key_where_it_has_it():
    with simulator("--profile", "null", "--api-key-env", "SIM_KEY", SIM_KEY="k3y") as server:
        message = {**HELLO, "max_tokens": 2}
        bearer, x_api_key = {"Authorization": "Bearer k3y"}, {"x-api-key": "k3y"}
        assert server.ask("/v1/messages", message, x_api_key)[0] == 200
        assert server.ask("/v1/messages", message, bearer)[0] == 200
        status, raw = server.ask("/v1/messages", message)
        assert (status, json.loads(raw)["error"]["type"]) == (401, "authentication_error")
        assert server.ask(CHAT, message, x_api_key) == (401, b'{"error":"Unauthorized"}')
        assert server.ask("/completion", {"prompt": "a"})[0] == 401
        assert server.ask("/api/tags")[0] == 401
        assert server.ask("/info")[0] == 200


@slow
def test_a_busy_server_says_when_to_come_back():
    with simulator("--profile", "null") as server:
        connection = server.connect()
        fault = {"X-Sim-Fault": "status=429; retry_after_s=7"}
        connection.request("POST", COMPLETIONS, json.dumps(ASK).encode(), fault)
        response = connection.getresponse()
        response.read()
        connection.close()
        assert (response.status, response.getheader("Retry-After")) == (429, "7")
