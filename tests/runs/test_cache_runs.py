"""A run against a server with a prefix cache says whether the cache answered for its prompts."""

import pytest

from analysis.show import show

pytestmark = pytest.mark.slow
STAGE = {"concurrency": 4, "requests": 60}
LENGTHS = {"prompt_tokens": 600, "output_tokens": 8}


def cache_of(runs, **workload):
    run = runs.start(STAGE, workload={**LENGTHS, **workload})
    assert runs.end(run)["state"] == "finished"
    return show(runs.store.ask, run)["cache"]


def test_the_same_prompt_again_and_again_is_contamination(runs):
    found = cache_of(runs, unique_prompts=False)
    assert found["contaminated"]
    assert found["cached_share"] > 0.8
    assert found["counter_share"] == pytest.approx(found["cached_share"], abs=0.1)
    assert found["sentence"]


def test_unique_prompts_are_none(runs):
    found = cache_of(runs)
    assert not found["contaminated"]
    assert found["cached_share"] < 0.01


def test_a_prefix_that_the_plan_shares_is_none(runs):
    found = cache_of(runs, prefix={"tokens": 480, "groups": 2})
    assert not found["contaminated"]
    assert found["cached_share"] > 0.5
