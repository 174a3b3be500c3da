"""Profiles, settings and options: what can be said, and the sentence for what cannot."""

from dataclasses import fields
from pathlib import Path

import pytest

from simulator.apis import APIS
from simulator.engine_config import EngineConfig
from simulator.faults import Fault
from simulator.freezes import Freezes
from simulator.front import Front
from simulator.options import Options, parse_options
from simulator.profiles import PROFILES, adjusted, profile_named
from simulator.server import run


def test_every_option_arrives():
    words = "--port 0 --profile null --truth t.jsonl --host ::1 --with-parent --api-key-env KEY"
    more = "--model m --set max_batch=3 --set seed=9"
    assert parse_options([*words.split(), *more.split()]) == Options(
        0, "null", Path("t.jsonl"), "::1", True, "KEY", "m", ("max_batch=3", "seed=9")
    )
    assert parse_options([]) == Options()


def test_settings_change_the_engine_and_the_answers():
    settings = ("max_batch=3", "acceptance=0.5", "has_prefix_cache=false", "natural_tokens=7")
    profile = adjusted(profile_named("small-gpu"), settings)
    assert (profile.engine.max_batch, profile.engine.acceptance) == (3, 0.5)
    assert (profile.engine.has_prefix_cache, profile.natural_tokens) == (False, 7)
    assert profile.engine.step_ns == PROFILES["small-gpu"].engine.step_ns


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_serves_its_longest_request_alone(name: str):
    engine = PROFILES[name].engine
    assert engine.kv_blocks * engine.block_tokens >= engine.context_tokens
    assert PROFILES[name].summary.endswith(".")


def test_the_small_gpu_is_full_at_sixteen_streams_of_the_demo():
    engine = PROFILES["small-gpu"].engine
    context = 256 + 64

    def step_ms(n: int) -> float:
        per_stream_ns = engine.sequence_ns + engine.context_token_ns * context
        return (engine.step_ns + n * per_stream_ns) / 1e6

    assert 14 < step_ms(1) < 15
    assert 18 < step_ms(16) < 21
    assert engine.max_batch == 16
    assert 16 * context <= engine.kv_blocks * engine.block_tokens, "no preemption in the demo"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(profile="huge"), "There is no profile 'huge'; choose one of null, small-gpu"),
        (Options(settings=("speed=3",)), "'speed=3' is not KEY=VALUE with a KEY out of acceptance"),
        (Options(settings=("max_batch",)), "'max_batch' is not KEY=VALUE"),
        (Options(settings=("max_batch=lots",)), "must be a whole number"),
        (Options(settings=("acceptance=lots",)), "must be a number"),
        (Options(settings=("has_prefix_cache=1",)), "must be true or false"),
        (Options(settings=("max_batch=0",)), "must be at least 1"),
        (Options(settings=("coding=zip",)), "coding is 'zip'; it must be one of identity, gzip"),
        (Options(truth=Path("/nonexistent/t.jsonl")), "t.jsonl cannot be written: No such file"),
        (Options(api_key_env="NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exit_code_2(
    options: Options, words: str, capsys: pytest.CaptureFixture[str]
):
    assert run(options) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_the_document_names_each_api_setting_and_fault():
    text = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text()
    paths = [path for api in APIS.values() for path in api.paths]
    keys = [key.name for of in (EngineConfig, Front, Freezes, Fault) for key in fields(of)]
    missing = [
        name for name in (*paths, *keys) if f"`{name}`" not in text and f"`{name}=" not in text
    ]
    assert [name for name in missing if f"(`{name}" not in text] == []


def test_settings_change_the_manners():
    front = adjusted(profile_named("null"), ("coding=gzip", "request_metrics=true")).front
    assert front == Front(coding="gzip", request_metrics=True)
