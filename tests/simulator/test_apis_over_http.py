"""Every API over real sockets: what it tells is what the truth log says; its faults and errors."""

import http.client
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from simulated import Server, answered, simulator

from simulator.apis import APIS, BY_PATH
from simulator.truth_log import TrueRequest, read_truth

pytestmark = pytest.mark.slow

MESSAGES = [{"role": "user", "content": "one two three"}]
EXACT: dict[str, Any] = {"ignore_eos": True}
N_TOKENS = 6


@dataclass(frozen=True)
class Case:
    """How to ask an API for N_TOKENS, and where its stream's last events tell prompt and output."""

    path: str
    body: dict[str, Any]
    told: Callable[[list[Any]], tuple[int, int]]
    content_type: str = "text/event-stream"


def openai_usage(events: list[Any]) -> tuple[int, int]:
    usage = events[-2]["usage"]
    return usage["prompt_tokens"], usage["completion_tokens"]


def responses_usage(events: list[Any]) -> tuple[int, int]:
    usage = events[-1]["response"]["usage"]
    return usage["input_tokens"], usage["output_tokens"]


def anthropic_usage(events: list[Any]) -> tuple[int, int]:
    usage = events[-2]["usage"]
    return usage["input_tokens"] + usage["cache_read_input_tokens"], usage["output_tokens"]


def ollama_usage(events: list[Any]) -> tuple[int, int]:
    return events[-1]["prompt_eval_count"], events[-1]["eval_count"]


def tgi_usage(events: list[Any]) -> tuple[int, int]:
    details = events[-1]["details"]
    return details["input_length"], details["generated_tokens"]


def llamacpp_usage(events: list[Any]) -> tuple[int, int]:
    return events[-1]["tokens_evaluated"], events[-1]["tokens_predicted"]


OPENAI: dict[str, Any] = {
    "stream": True, "max_tokens": N_TOKENS, "stream_options": {"include_usage": True}, **EXACT,
}  # fmt: skip
OLLAMA: dict[str, Any] = {"model": "reasoning", "options": {"num_predict": N_TOKENS, **EXACT}}
CASES: dict[str, Case] = {
    "chat": Case("/v1/chat/completions", {"messages": MESSAGES, **OPENAI}, openai_usage),
    "completions": Case("/v1/completions", {"prompt": "one two three", **OPENAI}, openai_usage),
    "responses": Case(
        "/v1/responses",
        {"input": "one two three", "max_output_tokens": N_TOKENS, "stream": True, **EXACT},
        responses_usage,
    ),
    "messages": Case(
        "/v1/messages",
        {"messages": MESSAGES, "max_tokens": N_TOKENS, "stream": True, **EXACT},
        anthropic_usage,
    ),
    "ollama-chat": Case(
        "/api/chat", {"messages": MESSAGES, **OLLAMA}, ollama_usage, "application/x-ndjson"
    ),
    "ollama-generate": Case(
        "/api/generate", {"prompt": "one two three", **OLLAMA}, ollama_usage, "application/x-ndjson"
    ),
    "tgi": Case(
        "/generate_stream",
        {
            "inputs": "one two three",
            "parameters": {"max_new_tokens": N_TOKENS, "details": True, **EXACT},
        },
        tgi_usage,
    ),
    "llamacpp": Case(
        "/completion",
        {"prompt": "one two three", "n_predict": N_TOKENS, "stream": True, **EXACT},
        llamacpp_usage,
    ),
}


@dataclass(frozen=True)
class Heard:
    """What a client got, by API name, and the server's truth of it by X-Request-Id."""

    streams: dict[str, tuple[str, bytes]]  # content type, body
    wholes: dict[str, Any]
    cuts: dict[str, tuple[bytes, str]]  # what had come, and how it broke
    truth: dict[str, TrueRequest]


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    log = tmp_path_factory.mktemp("truth") / "truth.jsonl"
    fast = ("--set", "step_ns=2000000", "--set", "has_prefix_cache=false")
    with simulator("--profile", "reasoning", *fast, "--truth", str(log)) as server:
        streams = {name: stream(server, case, name) for name, case in CASES.items()}
        wholes = {name: whole(server, case, f"{name}-whole") for name, case in CASES.items()}
        cuts = {name: cut_stream(server, case, f"{name}-cut") for name, case in CASES.items()}
        assert server.metric("vllm:num_requests_running") == 0
        assert server.stop() == 0
    return Heard(streams, wholes, cuts, {r.x_request_id: r for r in read_truth(log)})


def stream(server: Server, case: Case, name: str) -> tuple[str, bytes]:
    connection = server.connect()
    head = {"X-Request-Id": name}
    connection.request("POST", case.path, json.dumps(case.body).encode(), head)
    response = connection.getresponse()
    answer = response.getheader("Content-Type", ""), response.read()
    connection.close()
    return answer


def whole(server: Server, case: Case, name: str) -> Any:
    path = case.path.removesuffix("_stream")
    body = {**case.body, "stream": False}
    body.pop("stream_options", None)
    status, raw = server.ask(path, body, {"X-Request-Id": name})
    assert status == 200, raw
    return json.loads(raw)


def cut_stream(server: Server, case: Case, name: str) -> tuple[bytes, str]:
    connection = server.connect()
    head = {"X-Request-Id": name, "X-Sim-Fault": "cut_after=3"}
    connection.request("POST", case.path, json.dumps(case.body).encode(), head)
    response = connection.getresponse()
    raw, broke = b"", ""
    try:
        while read := response.read1(65536):
            raw += read
    except http.client.IncompleteRead as error:
        broke = type(error).__name__
    connection.close()
    return raw, broke


def documents(raw: bytes) -> list[Any]:
    """The JSON objects of a stream, however it is framed, and the text [DONE]."""
    lines = [line.removeprefix("data:").strip() for line in raw.decode().splitlines()]
    texts = [line for line in lines if line.startswith(("{", "[DONE]"))]
    return [json.loads(text) if text[0] == "{" else text for text in texts]


def n_words(raw: bytes) -> int:
    """How many events of a stream carry one word each: a field of it is a space and a word."""
    return len(re.findall(rb'":" [a-z]+"', raw))


def test_every_streaming_api_is_tried():
    assert set(CASES) == {name for name, api in APIS.items() if api.events is not None}


@pytest.mark.parametrize("name", CASES)
def test_a_stream_tells_what_the_truth_log_says(heard: Heard, name: str):
    content_type, raw = heard.streams[name]
    truth = heard.truth[name]
    assert content_type.split(";")[0] == CASES[name].content_type
    assert CASES[name].told(documents(raw)) == (truth.prompt_tokens, N_TOKENS)
    assert sum(token.n_tokens for token in truth.tokens) == N_TOKENS == truth.output_tokens
    assert (truth.api, truth.how, truth.prompt_tokens) == (name, "done", 3)


@pytest.mark.parametrize("name", CASES)
def test_each_token_event_of_the_truth_carries_its_own_text(heard: Heard, name: str):
    """As many events with text on the wire as token lines in the log, thoughts marked as such."""
    kinds = [token.kind for token in heard.truth[name].tokens]
    is_plain = name in ("completions", "tgi", "llamacpp")
    thoughts = 0 if is_plain else 4
    assert kinds == ["reasoning"] * thoughts + ["content"] * (N_TOKENS - thoughts)
    assert n_words(heard.streams[name][1]) == N_TOKENS


@pytest.mark.parametrize("name", CASES)
def test_a_whole_answer_is_one_object_without_token_lines(heard: Heard, name: str):
    truth = heard.truth[f"{name}-whole"]
    assert (truth.tokens, truth.how, truth.output_tokens) == ([], "done", N_TOKENS)
    assert isinstance(heard.wholes[name], dict)


@pytest.mark.parametrize("name", CASES)
def test_a_cut_stream_has_its_tokens_and_no_end(heard: Heard, name: str):
    raw, broke = heard.cuts[name]
    assert broke == "IncompleteRead"
    assert n_words(raw) == 3
    assert (len(heard.truth[f"{name}-cut"].tokens), heard.truth[f"{name}-cut"].how) == (3, "cut")


@pytest.mark.parametrize("name", CASES)
def test_garbage_is_one_thing_that_is_no_json(name: str):
    body = {**CASES[name].body, "x_sim_fault": "garbage_after=2"}
    raw = answered(CASES[name].path, body, "step_ns=100000", profile="reasoning")
    lines = [line.removeprefix("data:").strip() for line in raw.decode().splitlines()]
    bad = [line for line in lines if line.startswith("{") and not is_json(line)]
    assert len(bad) == 1
    assert n_words(raw) == N_TOKENS


def is_json(text: str) -> bool:
    try:
        return bool(json.loads(text))
    except json.JSONDecodeError:
        return False


def test_embeddings_cost_prefill_and_no_output(tmp_path: Path):
    log = tmp_path / "truth.jsonl"
    slow = ("--set", "step_ns=0", "--set", "sequence_ns=0", "--set", "prefill_token_ns=20000000")
    with simulator("--profile", "small-gpu", *slow, "--truth", str(log)) as server:
        begin = time.monotonic()
        status, raw = server.ask("/v1/embeddings", {"input": ["a b c", "d e"]})
        took_s = time.monotonic() - begin
        assert (status, json.loads(raw)["usage"]["prompt_tokens"]) == (200, 5)
        assert took_s >= 5 * 0.02
        assert server.metric("vllm:generation_tokens_total") == 0
        assert server.metric("vllm:prompt_tokens_total") == 5
        server.stop()
    (truth,) = read_truth(log)
    assert (truth.api, truth.prompt_tokens, truth.output_tokens) == ("embeddings", 5, 0)


def test_errors_have_the_shape_of_the_api_they_are_for():
    shapes = {
        "chat": ("error", "code"),
        "messages": ("error", "type"),
        "ollama-chat": ("error",),
        "tgi": ("error_type",),
        "llamacpp": ("error", "code"),
    }
    with simulator("--profile", "null") as server:
        for name, place in shapes.items():
            for body in (b"{", b"{}"):
                status, raw = server.ask(CASES[name].path, body)
                value = json.loads(raw)
                for key in place:
                    value = value[key]
                assert status in (400, 422), name
                assert value, name


def test_each_kind_of_client_finds_the_model():
    with simulator("--profile", "null", "--model", "m") as server:
        listings = {path: json.loads(server.ask(path)[1]) for path in ("/api/tags", "/info")}
        assert listings["/api/tags"]["models"][0]["name"] == "m:latest"
        assert listings["/info"]["model_id"] == "m"


def test_no_path_belongs_to_two_apis():
    assert len(BY_PATH) == sum(len(api.paths) for api in APIS.values())
