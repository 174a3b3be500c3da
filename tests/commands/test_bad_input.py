"""Whatever the user got wrong: one clear answer, the right exit code, no traceback, no hang."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.run_headway import headway_in

pytestmark = pytest.mark.slow

FIVE_MISTAKES = """
seed = "one"
[target]
url = "127.0.0.1:8000"
model = "m"
api = "soap"
[workload]
prompt_tokens = 0
[[stages]]
concurrency = 2
"""


class Refuser(BaseHTTPRequestHandler):
    """An endpoint that knows one model and one key, in vLLM's words."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.startswith("/v1/"):
            self.answer(404, {"detail": "Not Found"})
        elif self.headers["Authorization"] != "Bearer right":
            self.answer(401, {"error": "Unauthorized"})
        else:
            said = f"The model `{asked['model']}` does not exist."
            self.answer(404, {"error": {"message": said, "type": "NotFoundError", "code": 404}})

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def port():
    with ThreadingHTTPServer(("127.0.0.1", 0), Refuser) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    with headway_in(tmp_path_factory.mktemp("bad")) as headway:
        yield headway


def answer_of(said, code):
    """The last line of stderr, which must be the sentence; nothing may look like a crash."""
    assert said.returncode == code, said.stderr
    assert "Traceback" not in said.stderr + said.stdout
    return said.stderr.strip().splitlines()[-1]


def quick(headway, url, *words, **env):
    return headway(
        "quick", url, "--model", "m", "--concurrency", "1", "--requests", "1", *words, **env
    )


def test_a_refused_port_is_named(headway):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    sentence = answer_of(quick(headway, f"http://127.0.0.1:{port}"), 3)
    assert f"127.0.0.1:{port}" in sentence
    assert "refused" in sentence.lower()


def test_a_host_that_does_not_exist_is_named(headway):
    sentence = answer_of(quick(headway, "http://no-such-host.invalid:8000"), 3)
    assert "no-such-host.invalid" in sentence
    assert "Check the host name" in sentence


def test_a_wrong_path_is_answered_with_the_status(headway, port):
    sentence = answer_of(quick(headway, f"http://127.0.0.1:{port}/wrong"), 3)
    assert "404" in sentence
    assert "Not Found" in sentence


def test_tls_to_a_plain_port_says_so(headway, port):
    sentence = answer_of(quick(headway, f"https://127.0.0.1:{port}"), 3)
    assert "TLS" in sentence
    assert "http://" in sentence


def test_a_missing_key_is_told_with_what_to_name(headway, port):
    sentence = answer_of(quick(headway, f"http://127.0.0.1:{port}"), 3)
    assert "401" in sentence
    assert "Unauthorized" in sentence
    assert "api_key_env" in sentence


def test_a_wrong_key_is_told_by_its_variable_and_never_shown(headway, port):
    words = ("--api-key-env", "HEADWAY_TEST_KEY")
    said = quick(headway, f"http://127.0.0.1:{port}", *words, HEADWAY_TEST_KEY="wr0ng-s3cret")
    sentence = answer_of(said, 3)
    assert "401" in sentence
    assert "HEADWAY_TEST_KEY" in sentence
    assert "wr0ng-s3cret" not in said.stdout + said.stderr
    written = [p for p in headway.data.rglob("*") if p.is_file() and not p.is_socket()]
    assert not [p for p in written if b"wr0ng-s3cret" in p.read_bytes()]


def test_an_unknown_model_is_answered_in_the_servers_words(headway, port):
    words = ("--api-key-env", "HEADWAY_TEST_KEY")
    said = quick(headway, f"http://127.0.0.1:{port}/v1", *words, HEADWAY_TEST_KEY="right")
    sentence = answer_of(said, 3)
    assert "404" in sentence
    assert "The model `m` does not exist." in sentence
    assert "target.model" in sentence


def test_a_failed_run_is_kept_and_can_be_shown(headway, port):
    quick(headway, f"http://127.0.0.1:{port}", "--name", "no key")
    document = headway.shown("no key")
    assert document["run"]["state"] == "failed"
    assert "401" in document["run"]["message"]


def test_five_mistakes_of_a_plan_are_named_in_one_answer(headway):
    path = headway.elsewhere / "five.toml"
    path.write_text(FIVE_MISTAKES)
    said = headway("run", "five.toml")
    answer_of(said, 2)
    assert said.stderr.startswith("five.toml has 5 mistakes:")
    for field in ("seed", "target.url", "target.api", "workload.prompt_tokens", "stages[0]"):
        assert f"  - {field} " in said.stderr
    assert not (headway.data / "runs" / "five").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("run", "missing.toml"), "missing.toml"),
        (("quick", "localhost:8000", "--model", "m"), "target.url"),
        (("quick", "http://h"), "--model"),
        (("quick", "http://h", "--model", "m", "--rate", "1", "--concurrency", "2"), "--rate"),
        (("quick", "http://h", "--model", "m", "--api-key-env", "NOT_SET_HERE"), "NOT_SET_HERE"),
        (("quick", "sim://small-gpu", "--model", "m", "--json", "no/such/file"), "no/such/file"),
        (("simulate", "--profile", "tardis"), "small-gpu"),
        (("simulate", "--set", "freeze_s=-1"), "freeze_s is -1"),
        (("show", "no-such-run"), "no-such-run"),
        (("measure",), "measure"),
    ],
)
def test_a_usage_mistake_is_named_and_leaves_with_2(headway, words, named):
    assert named in answer_of(headway(*words), 2)


@pytest.mark.parametrize("words", [("show", "last"), ("quick", "sim://null", "--model", "m")])
def test_a_data_folder_that_cannot_be_written_is_named(headway, words):
    (headway.elsewhere / "file").touch()
    below_a_file = headway.elsewhere / "file" / "data"  # also refused to root, unlike a mode
    sentence = answer_of(headway(*words, HEADWAY_DATA=str(below_a_file)), 2)
    assert str(below_a_file) in sentence
    assert "HEADWAY_DATA" in sentence
