"""Prompts have exactly the asked tokens by the count of llama.cpp's own server."""

import json

import pytest

from storage.client import Store
from tests.real_servers.llamacpp import llamacpp_server
from tests.real_servers.test_llamacpp import free_port, model  # noqa: F401  # a fixture
from tests.run_headway import headway_in

pytest.importorskip("xllamacpp", reason="no xllamacpp wheel for this platform (llama.cpp's server)")
pytestmark = [pytest.mark.slow, pytest.mark.real_server]

REQUESTS = 24
PLAN = f"""
[target]
url = "http://127.0.0.1:8000"
model = "tiny"
[workload]
prompt_tokens = {{ kind = "lognormal", median = 60, sigma = 0.6, high = 300 }}
output_tokens = 4
[workload.prefix]
tokens = 20
share = 0.5
groups = 2
[[stages]]
concurrency = 2
requests = {REQUESTS}
"""


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    with headway_in(tmp_path_factory.mktemp("prompts")) as headway:
        (headway.elsewhere / "plan.toml").write_text(PLAN)
        yield headway


@pytest.fixture(scope="module")
def url(model):  # noqa: F811  # pytest's way to name a fixture
    with llamacpp_server(model, free_port()) as url:
        yield url


@pytest.mark.parametrize("api", ["openai_chat", "openai_completions", "llamacpp"])
def test_every_prompt_counts_as_asked_beside_the_chat_template(headway, url, api):
    said = headway("run", "plan.toml", "--url", url, "--name", api, "--api", api)
    shown = headway.shown(api)
    assert shown["outcomes"] == {"complete": REQUESTS}, said.stderr
    uid = shown["run"]["uid"]
    told = json.loads((headway.data / "runs" / uid / "run.json").read_bytes())["prompts"]["default"]
    assert (told["counted_by"], told["off"], told["note"]) == ("server", [0, 0], None)
    assert told["counter"].endswith("/tokenize")
    store = Store.connect(headway.data)
    rows = store.ask("requests", run=uid)
    store.close()
    load = rows[rows["phase"] != "preflight"]
    assert set(load["prompt_tokens"] - load["prompt_tokens_planned"]) == {told["overhead_tokens"]}
    assert load["prompt_tokens_planned"].nunique() > REQUESTS / 2
    assert (told["overhead_tokens"] > 0) == (api == "openai_chat")
    assert "on every request" in said.stdout
