"""`--set KEY=VALUE` changes exactly one value of a plan, or says why it cannot."""

import copy

import pytest

from commands.overrides import apply
from loadgen.plan import PlanError

RAW = {
    "target": {"url": "http://h", "model": "m"},
    "classes": [{"name": "chat"}],
    "stages": [{"concurrency": 1, "requests": 9}],
}


@pytest.mark.parametrize(
    ("assignment", "read"),
    [
        ("stages[0].concurrency=4", lambda raw: raw["stages"][0]["concurrency"] == 4),
        ("limits.drain_s = 2.5", lambda raw: raw["limits"] == {"drain_s": 2.5}),
        ("workload.unique_prompts=false", lambda raw: raw["workload"]["unique_prompts"] is False),
        ("target.model=llama-3.1:8b", lambda raw: raw["target"]["model"] == "llama-3.1:8b"),
        ('target.model="a = b"', lambda raw: raw["target"]["model"] == "a = b"),
        ('slos=[{metric="ttft", max_ms=600}]', lambda raw: raw["slos"][0]["max_ms"] == 600),
        ("workload.extra_body.top_k=1", lambda raw: raw["workload"]["extra_body"]["top_k"] == 1),
        ("targets.b.url=http://b", lambda raw: raw["targets"]["b"] == {"url": "http://b"}),
        ("limits.tokens=1_000_000", lambda raw: raw["limits"]["tokens"] == 1_000_000),
        ("machines.workers=2", lambda raw: raw["machines"] == {"workers": 2}),
        (
            "classes[0].workload.prompt_tokens={kind='uniform', low=1, high=9}",
            lambda raw: raw["classes"][0]["workload"]["prompt_tokens"]["high"] == 9,
        ),
        ("classes[0].load.rate_per_s=0.5", lambda raw: raw["classes"][0]["load"]["rate_per_s"]),
        ("stages[0]={rate_per_s=2, seconds=5}", lambda raw: raw["stages"][0]["rate_per_s"] == 2),
    ],
)
def test_a_value_is_toml_and_what_is_no_toml_is_a_string(assignment, read):
    raw = copy.deepcopy(RAW)
    apply(raw, assignment)
    assert read(raw)


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("seed", "no '='"),
        ("stages[3].concurrency=4", r"stages\[3\]: does not exist; the plan has 1"),
        ("stages[1]=4", "does not exist"),
        ("slos[0].max_ms=4", r"slos\[0\]: does not exist; the plan has 0"),
        ("slos[0]=4", r"slos\[0\]: does not exist; the plan has 0"),
        ("target[0]=4", "not a list"),
        ("stages.concurrency=4", "has no fields"),
        ("target.url.host=x", "has no fields"),
        ("stages[a]=1", "is no key"),
        ("=1", "is no key"),
        ('target.model="open', "not TOML"),
        ("seed=", "not TOML"),
    ],
)
def test_a_key_that_leads_nowhere_is_a_plan_error(assignment, words):
    raw = copy.deepcopy(RAW)
    with pytest.raises(PlanError, match=words):
        apply(raw, assignment)
    assert raw == RAW
