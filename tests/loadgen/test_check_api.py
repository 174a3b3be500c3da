"""Which API an endpoint speaks: its path tells, else what it lists; never more than three GETs."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from loadgen.check_api import api_of_url, first_model, guess
from loadgen.wire.registry import APIS


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("http://h/v1/chat/completions", "openai_chat"),
        ("http://h/v1/completions", "openai_completions"),
        ("http://h/proxy/v1/messages/", "anthropic_messages"),
        ("http://h/api/chat", "ollama_chat"),
        ("http://h/api/generate", "ollama_generate"),
        ("http://h/generate_stream", "tgi"),
        ("http://h/completion", "llamacpp"),
        ("http://h/v1/responses", "openai_responses"),
        ("http://h/v1/embeddings", "openai_embeddings"),
        ("https://api.anthropic.com", "anthropic_messages"),
        ("http://h", None),
        ("http://h/v1", None),
        ("http://[broken", None),
    ],
)
def test_the_path_tells_the_api(url, api):
    assert api_of_url(url) == api


def test_every_apis_own_path_tells_it():
    assert [api_of_url(f"http://h{api.path}") for api in APIS.values()] == list(APIS)


@contextmanager
def listing(**documents):
    """A server with these documents by their paths (_ for /), and the paths it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            found = documents.get(self.path.replace("/", "_"))
            body = json.dumps(found).encode() if found is not None else b"<html>404</html>"
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


MODELS = {"data": [{"id": "tiny"}, {"id": "other"}]}


@pytest.mark.slow
def test_a_list_of_models_means_openai_chat_and_names_the_first():
    with listing(_v1_models=MODELS) as (url, asked):
        found = guess({"url": url})
        assert (found.api, found.model) == ("openai_chat", "tiny")
        assert asked == ["/v1/models"]
        assert guess({"url": f"{url}/v1"}).model == "tiny"


@pytest.mark.slow
def test_ollama_and_tgi_are_known_by_their_own_lists():
    with listing(_api_tags={"models": [{"name": "llama3"}]}) as (url, _):
        assert (guess({"url": url}).api, guess({"url": url}).model) == ("ollama_chat", "llama3")
    with listing(_info={"model_id": "falcon"}) as (url, asked):
        assert (guess({"url": url}).api, guess({"url": url}).model) == ("tgi", "falcon")
        assert set(asked) == {"/v1/models", "/api/tags", "/info"}


@pytest.mark.slow
def test_a_server_that_lists_nothing_is_taken_for_the_usual_one():
    with listing() as (url, asked):
        found = guess({"url": url})
        assert (found.api, found.model) == ("openai_chat", None)
        assert len(asked) == 3


@pytest.mark.slow
def test_nobody_there_is_asked_once_and_not_an_error():
    with listing() as (url, _):
        pass
    assert guess({"url": url}).api == "openai_chat"
    assert first_model({"url": url}) is None


@pytest.mark.slow
def test_a_full_path_is_asked_for_its_models_beside_it():
    with listing(_v1_models=MODELS) as (url, asked):
        assert guess({"url": f"{url}/v1/chat/completions"}).model == "tiny"
        assert asked == ["/v1/models"]
