"""A whole `headway run` against llama.cpp's own HTTP server with four slots."""

import json
import os
import re
import socket
import subprocess
import urllib.request
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from storage.client import Store
from tests.real_servers.llamacpp import SLOTS, llamacpp_server
from tests.real_servers.tiny_model import write_tiny_model
from tests.run_headway import headway_in

# The wheel exists for Linux, macOS and Windows on the common processors, and not elsewhere.
pytest.importorskip("xllamacpp", reason="no xllamacpp wheel for this platform (llama.cpp's server)")
pytestmark = [pytest.mark.slow, pytest.mark.real_server]

PROMPT_TOKENS, OUTPUT_TOKENS = 64, 32
TEMPLATE_TOKENS = 24  # roles and turns around the prompt
BELIEVED = {"exact", "bounded"}
TRIES = 3
BUSY_LOAD = 2  # runnable processes per core; the test's own are about one
REQUESTS = {"c=1": 10, "c=4": 20, "c=16": 48}
PLAN = f"""
name = "llama.cpp"
[target]
url = "http://127.0.0.1:8000"
model = "tiny"
[workload]
prompt_tokens = {PROMPT_TOKENS}
output_tokens = {OUTPUT_TOKENS}
""" + "".join(
    f"[[stages]]\nconcurrency = {name.removeprefix('c=')}\nrequests = {n}\n"
    for name, n in REQUESTS.items()
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_tiny_model(path)
    return path


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    with headway_in(tmp_path_factory.mktemp("llamacpp")) as headway:
        (headway.elsewhere / "plan.toml").write_text(PLAN)
        yield headway


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@dataclass(frozen=True)
class Measured:
    """What the command said, what it stored, and what the server counted itself."""

    said: subprocess.CompletedProcess[str]
    document: dict[str, Any]
    run: dict[str, Any]
    requests: pd.DataFrame
    counters: dict[str, float]

    @property
    def levels(self) -> dict[str, Any]:
        return {level["stage"]: level for level in self.document["levels"]}


@pytest.fixture(scope="module")
def measured(headway, model):
    with llamacpp_server(model, free_port()) as url:
        said = headway("run", "plan.toml", "--url", url)
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            counters = re.findall(r"^llamacpp:(\w+) (\S+)$", answer.read().decode(), re.MULTILINE)
    document = headway.shown()
    store = Store.connect(headway.data)
    run = store.ask("run", run=document["run"]["uid"]).iloc[0].to_dict()
    requests = store.ask("requests", run=document["run"]["uid"])
    store.close()
    counted = {name: float(value) for name, value in counters}
    return Measured(said, document, run, requests, counted)


def test_the_run_finishes_and_its_exit_code_says_whether_to_believe_it(measured):
    assert measured.document["run"]["state"] == "finished", measured.said.stderr
    assert list(measured.levels) == list(REQUESTS)
    # A machine that is busy with other work may make the load generator late, and that must show;
    # on one that is not, the code is 0.
    believed = measured.document["validity"]["verdict"] in BELIEVED
    assert measured.said.returncode == (0 if believed else 3), measured.said.stdout
    assert believed or "Do not believe these numbers" in measured.said.stdout


def test_one_stream_alone_is_believed(headway, model):
    """Three tries: the machine may be doing something else for a moment, but not for ever."""
    verdicts = []
    with llamacpp_server(model, free_port()) as url:
        while len(verdicts) < TRIES and not set(verdicts) & BELIEVED:
            words = ("--url", url, "--set", "stages=[{concurrency=1, requests=10}]")
            headway("run", "plan.toml", *words)
            verdicts.append(headway.shown()["validity"]["verdict"])
    busy = os.getloadavg()[0]
    if not set(verdicts) & BELIEVED and busy > BUSY_LOAD * (os.cpu_count() or 1):
        pytest.skip(f"this machine is busy with other work (load average {busy:.0f})")
    assert set(verdicts) & BELIEVED, verdicts


def test_every_request_is_complete(measured):
    assert measured.document["outcomes"] == {"complete": sum(REQUESTS.values())}
    by_stage = measured.requests[measured.requests["phase"] != "preflight"].groupby("stage")
    assert by_stage.size().tolist() == list(REQUESTS.values())


def test_token_counts_are_the_servers_own(measured):
    load = measured.requests[measured.requests["phase"] != "preflight"]
    assert set(load["token_source"]) == {"usage"}
    assert set(load["output_tokens"]) == {OUTPUT_TOKENS}  # ignore_eos: exactly what was asked
    assert (load["n_chunks"] <= load["output_tokens"]).all()  # broken UTF-8 joins tokens
    preflight = json.loads(measured.run["preflight"])["row"]
    told = load["output_tokens"].sum() + preflight["output_tokens"]
    assert told == measured.counters["tokens_predicted_total"]


def test_prompts_have_the_length_asked_for_and_the_chat_templates_own_tokens(measured):
    load = measured.requests[measured.requests["phase"] != "preflight"]
    assert load["prompt_tokens"].between(PROMPT_TOKENS, PROMPT_TOKENS + TEMPLATE_TOKENS).all()


def test_sixteen_streams_on_four_slots_wait_in_a_queue_that_ttft_shows(measured):
    ttft = {name: level["metrics"]["ttft"]["p50"] for name, level in measured.levels.items()}
    e2e_4 = measured.levels["c=4"]["metrics"]["e2e"]["p50"]
    # Three of four streams wait for others to end before their first token.
    assert ttft["c=16"] > ttft["c=4"] + e2e_4
    assert measured.levels["c=16"]["mean_in_flight"] > 2 * SLOTS


def test_connections_that_the_server_closes_after_each_answer_are_no_failures(measured):
    load = measured.requests[measured.requests["phase"] != "preflight"]
    assert set(load["outcome"]) == {"complete"}
    assert not load["detail"].notna().any()


def test_a_wrong_key_is_answered_in_llamacpps_own_words(headway, model):
    with llamacpp_server(model, free_port(), api_key="right") as url:
        words = ("--url", url, "--api-key-env", "HEADWAY_TEST_KEY")
        refused = headway("run", "plan.toml", *words, HEADWAY_TEST_KEY="wrong")
        assert refused.returncode == 3
        assert "401" in refused.stderr
        assert "Invalid API Key" in refused.stderr
        words += ("--set", "stages=[{concurrency=2, requests=4}]")
        taken = headway("run", "plan.toml", *words, HEADWAY_TEST_KEY="right")
        assert "4 complete" in taken.stdout, taken.stderr
