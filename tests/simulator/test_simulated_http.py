"""The simulator over real sockets: what an OpenAI client sees."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from simulated import CHAT, COMPLETIONS, Server, events, simulator, words_of

pytestmark = pytest.mark.slow

FAST = ("--set", "step_ns=2000000", "--set", "sequence_ns=0", "--set", "prefill_token_ns=1000")
HELLO = [{"role": "user", "content": "hello there my friend"}]
USAGE = {"stream_options": {"include_usage": True}}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with simulator("--profile", "small-gpu", *FAST) as running:
        yield running


def chat(**fields: Any) -> dict[str, Any]:
    return {"messages": HELLO, "max_tokens": 5, "ignore_eos": True, **fields}


def test_a_chat_stream_is_role_tokens_finish_usage_done(server: Server):
    stream = server.stream(CHAT, chat(**USAGE), X_Request_Id="run-7")
    role, *tokens, finish, usage, done = stream
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [len(piece.split()) for piece in words_of(tokens)] == [1] * 5
    assert all(token["choices"][0]["finish_reason"] is None for token in tokens)
    assert finish["choices"][0] == {
        "index": 0, "delta": {}, "logprobs": None, "finish_reason": "length",
    }  # fmt: skip
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 4,
        "total_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert done == "[DONE]"
    assert {event["id"] for event in stream[:-1]} == {"chatcmpl-run-7"}
    assert {event["model"] for event in stream[:-1]} == {"small-gpu"}


def test_without_include_usage_there_is_no_usage(server: Server):
    assert not any("usage" in event for event in server.stream(CHAT, chat())[:-1])


def test_running_usage_counts_up(server: Server):
    options = {"include_usage": True, "continuous_usage_stats": True}
    stream = server.stream(CHAT, chat(stream_options=options))[:-1]
    counts = [event["usage"]["completion_tokens"] for event in stream]
    assert counts == [0, 1, 2, 3, 4, 5, 5, 5]


def test_a_completions_stream_has_text_and_no_role(server: Server):
    stream = server.stream(COMPLETIONS, {"prompt": "a b c", "max_tokens": 3, **USAGE})
    assert [event["choices"][0]["text"] != "" for event in stream[:4]] == [True, True, True, False]
    assert stream[3]["choices"][0]["finish_reason"] in ("length", "stop")
    assert stream[4]["usage"]["prompt_tokens"] == 3
    assert stream[0]["object"] == "text_completion"


def test_a_plain_answer_holds_the_same_text_as_the_stream(server: Server):
    ids = {"prompt": [1, 2, 3], "max_tokens": 5, "ignore_eos": True}
    for path, body in ((CHAT, chat()), (COMPLETIONS, ids)):
        streamed = "".join(words_of(server.stream(path, body, X_Request_Id="same")))
        status, raw = server.ask(path, body, {"X-Request-Id": "same"})
        (answer,) = events(raw)
        choice = answer["choices"][0]
        assert status == 200
        assert (choice["message"]["content"] if path == CHAT else choice["text"]) == streamed
        assert (answer["usage"]["completion_tokens"], choice["finish_reason"]) == (5, "length")


def test_an_answer_may_stop_by_itself_and_with_a_seed_always_alike(server: Server):
    lengths = [
        server.stream(CHAT, {"messages": HELLO, "seed": seed, **USAGE})[-2]["usage"][
            "completion_tokens"
        ]
        for seed in (3, 3, 6)
    ]
    assert lengths[0] == lengths[1] != lengths[2]
    last = server.stream(CHAT, {"messages": HELLO, "seed": 3})[-2]
    assert last["choices"][0]["finish_reason"] == "stop"


def test_a_prompt_sent_again_is_cached_in_blocks(server: Server):
    long = [{"role": "user", "content": " ".join(f"w{i}" for i in range(50))}]
    cached = [
        server.stream(CHAT, chat(messages=long, **USAGE))[-2]["usage"]["prompt_tokens_details"]
        for _ in range(2)
    ]
    assert cached == [{"cached_tokens": 0}, {"cached_tokens": 48}]


def test_one_connection_serves_streams_and_plain_answers_in_turn(server: Server):
    connection = server.connect()
    for is_streamed in ("true", "false", "true"):
        body = f'{{"prompt":"a","max_tokens":2,"stream":{is_streamed}}}'
        connection.request("POST", COMPLETIONS, body.encode())
        local = connection.sock.getsockname()
        response = connection.getresponse()
        assert response.read()
        assert response.status == 200
        assert connection.sock is not None, "kept open"
        assert connection.sock.getsockname() == local
    connection.close()


def test_an_http_1_0_client_gets_the_stream_without_chunks(server: Server):
    connection = server.connect()
    connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"  # as nginx speaks upstream
    connection.request("POST", COMPLETIONS, b'{"prompt":"a","max_tokens":2,"stream":true}')
    response = connection.getresponse()
    assert response.getheader("Transfer-Encoding") is None
    assert events(response.read())[-1] == "[DONE]"
    connection.close()


def test_the_response_head_comes_before_the_first_token(server: Server):
    connection = server.connect()
    body = b'{"prompt":"a","max_tokens":1,"stream":true}'
    begin = time.monotonic()
    connection.request("POST", COMPLETIONS, body, {"X-Sim-Fault": "freeze_ms=1000"})
    response = connection.getresponse()
    head_s = time.monotonic() - begin
    response.read()
    assert head_s < 0.8
    assert time.monotonic() - begin >= 1
    connection.close()


@pytest.mark.parametrize(
    ("path", "body", "status", "word"),
    [
        (CHAT, b'{"messages": [', 400, "JSON decode error"),
        (CHAT, b"[]", 400, "object expected"),
        (CHAT, {"max_tokens": 1}, 400, "body.messages: Field required"),
        (CHAT, {"messages": []}, 400, "at least one message"),
        (CHAT, chat(max_tokens="many"), 400, "int expected"),
        (CHAT, chat(max_tokens=0), 400, "at least 1, got 0"),
        (CHAT, chat(max_tokens=10**6), 400, "maximum context length of 8192"),
        (CHAT, chat(n=2), 400, "n must be 1"),
        (CHAT, chat(model="gpt-9"), 404, "The model `gpt-9` does not exist"),
        (COMPLETIONS, {"prompt": ["a", "b"]}, 400, "one text or one list"),
        (COMPLETIONS, {"prompt": "a " * 8192}, 400, "maximum context length is 8192"),
    ],
)
def test_a_wrong_request_gets_an_error_object(
    server: Server, path: str, body: Any, status: int, word: str
):
    got, raw = server.ask(path, body)
    (answer,) = events(raw)
    assert (got, answer["error"]["code"]) == (status, status)
    assert word in answer["error"]["message"]
    assert set(answer["error"]) == {"message", "type", "param", "code"}


def test_unknown_paths_and_methods_are_answered_as_json(server: Server):
    assert server.ask("/v2/chat")[0] == 404
    assert server.ask(CHAT) == (405, b'{"detail":"Method Not Allowed"}')


def test_models_and_health(server: Server):
    status, raw = server.ask("/v1/models")
    (models,) = events(raw)
    assert (status, models["data"][0]["id"]) == (200, "small-gpu")
    assert models["data"][0]["max_model_len"] == 8192
    assert server.ask("/health") == (200, b"")


def test_a_client_that_leaves_ends_its_sequence(server: Server):
    aborted = server.metric("vllm:request_success_total", finished_reason="abort")
    connection = server.connect()
    connection.request("POST", COMPLETIONS, b'{"prompt":"a","max_tokens":8000,"stream":true}')
    connection.getresponse().readline()
    assert server.metric("vllm:num_requests_running") == 1
    connection.close()
    deadline = time.monotonic() + 5
    while server.metric("vllm:num_requests_running") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.metric("vllm:num_requests_running") == 0
    assert server.metric("vllm:kv_cache_usage_perc") == 0
    assert server.metric("vllm:request_success_total", finished_reason="abort") == aborted + 1


def test_a_thinking_model_thinks_first_and_says_how_much():
    with simulator("--profile", "reasoning", *FAST) as server:
        stream = server.stream(CHAT, chat(max_completion_tokens=9, max_tokens=99, **USAGE))
        kinds = [next(iter(event["choices"][0]["delta"])) for event in stream[1:-3]]
        assert kinds == ["reasoning_content"] * 6 + ["content"] * 3
        details = stream[-2]["usage"]["completion_tokens_details"]
        assert details == {"reasoning_tokens": 6}
        (plain,) = events(server.ask(CHAT, chat(max_completion_tokens=9))[1])
        message = plain["choices"][0]["message"]
        assert len(message["reasoning_content"].split()) == 6
        assert len(message["content"].split()) == 3


def test_speculation_puts_several_tokens_into_an_event():
    drafts = ("--set", "draft_tokens=3", "--set", "acceptance=1", "--set", "thinking_share=0.5")
    with simulator("--profile", "large-gpu", *FAST, *drafts) as server:
        stream = server.stream(CHAT, chat(max_tokens=8, **USAGE))
        # steps of 1, 4 and 3 tokens; the thought ends within the second: two events
        sizes = [len(piece.split()) for piece in words_of(stream)]
        assert sizes == [1, 3, 1, 3]
        assert stream[-2]["usage"]["completion_tokens"] == 8


def test_the_null_server_answers_at_once():
    with simulator("--profile", "null") as server:
        begin = time.monotonic()
        stream = server.stream(CHAT, chat(max_tokens=200))
        assert len(words_of(stream)) == 200
        assert time.monotonic() - begin < 2
