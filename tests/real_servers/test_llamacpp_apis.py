"""Every API that llama.cpp's server speaks, streamed and whole, measured by whole runs."""

import re
import urllib.request

import pytest

from storage.client import Store
from tests.real_servers.llamacpp import llamacpp_server
from tests.real_servers.test_llamacpp import (  # noqa: F401  # model is a fixture
    OUTPUT_TOKENS,
    PLAN,
    free_port,
    model,
)
from tests.run_headway import headway_in

pytest.importorskip("xllamacpp", reason="no xllamacpp wheel for this platform (llama.cpp's server)")
pytestmark = [pytest.mark.slow, pytest.mark.real_server]

APIS = ("openai_chat", "openai_completions", "openai_responses", "anthropic_messages", "llamacpp")
REQUESTS = 6
ONE_LEVEL = ("--set", f"stages=[{{concurrency=2, requests={REQUESTS}}}]")


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    with headway_in(tmp_path_factory.mktemp("apis")) as headway:
        (headway.elsewhere / "plan.toml").write_text(PLAN)
        yield headway


@pytest.fixture(scope="module")
def url(model):  # noqa: F811  # pytest's way to name a fixture
    with llamacpp_server(model, free_port()) as url:
        yield url


def tokens_made(url):
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        found = re.search(r"^llamacpp:tokens_predicted_total (\S+)$", answer.read().decode(), re.M)
    return float(found[1])


def measured(headway, url, name, *more):
    before = tokens_made(url)
    said = headway("run", "plan.toml", "--url", url, "--name", name, *ONE_LEVEL, *more)
    shown = headway.shown(name)
    assert shown["outcomes"] == {"complete": REQUESTS}, said.stderr
    store = Store.connect(headway.data)
    rows = store.ask("requests", run=shown["run"]["uid"])
    store.close()
    return shown, rows[rows["phase"] != "preflight"], tokens_made(url) - before


def has_exact_length(rows, api):
    """Messages has no ignore_eos: there an answer may end by itself before the limit."""
    if api == "anthropic_messages":
        assert rows["output_tokens"].between(1, OUTPUT_TOKENS).all()
    else:
        assert set(rows["output_tokens"]) == {OUTPUT_TOKENS}


@pytest.mark.parametrize("api", APIS)
def test_a_streamed_answer_has_its_first_token_and_the_servers_own_count(headway, url, api):
    shown, rows, made = measured(headway, url, f"stream {api}", "--api", api)
    assert shown["levels"][0]["metrics"]["ttft"]["n"] == REQUESTS
    assert set(rows["form"]) == {"stream"}
    assert set(rows["token_source"]) == {"usage"}
    has_exact_length(rows, api)
    assert (rows["n_chunks"] <= OUTPUT_TOKENS).all()
    # The server counts a request when it ends; the preflight's few tokens are in its count too.
    assert made >= rows["output_tokens"].sum()
    if api == "llamacpp":  # its own timings are kept
        prefill = shown["levels"][0]["metrics"]["server_prefill"]
        assert prefill["n"] == REQUESTS
        assert 0 < prefill["p50"] <= shown["levels"][0]["metrics"]["ttft"]["p50"]


@pytest.mark.parametrize("api", APIS)
def test_a_whole_answer_has_an_e2e_and_no_first_token(headway, url, api):
    shown, rows, _ = measured(
        headway, url, f"whole {api}", "--api", api, "--set", "workload.stream=false"
    )
    metrics = shown["levels"][0]["metrics"]
    assert (metrics["ttft"]["n"], metrics["e2e"]["n"]) == (0, REQUESTS)
    assert set(rows["form"]) == {"whole"}
    has_exact_length(rows, api)
    assert not rows["n_missing_stamps"].any()
