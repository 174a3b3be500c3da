"""A plan file, options and `--set`s become one plan, or one answer with every mistake."""

import pytest

from commands.planning import plan_from_file, quick_plan
from commands.refusal import USAGE, Refusal

PLAN = """
name = "nightly"
[target]
url = "http://127.0.0.1:8000"
model = "m"
[[stages]]
concurrency = 2
requests = 10
"""

FIVE_MISTAKES = """
nmae = "nightly"
seed = "one"
[target]
url = "127.0.0.1:8000"
[workload]
prompt_tokens = 0
[[stages]]
concurrency = 2
"""


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_an_option_wins_over_the_file_and_a_set_over_both(plan_file):
    options = {"url": "http://other:1", "model": None, "name": "mine", "workers": 2}
    plan = plan_from_file(plan_file, options, ["stages[0].concurrency=8", "name=set"])
    assert plan.target.url == "http://other:1"
    assert plan.target.model == "m"
    assert (plan.name, plan.workers, plan.stages[0].name) == ("set", 2, "c=8")


def test_five_mistakes_of_a_file_are_all_named_in_one_answer(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(FIVE_MISTAKES)
    with pytest.raises(Refusal) as refusal:
        plan_from_file(path, {}, [])
    text = refusal.value.message
    assert refusal.value.exit_code == USAGE
    assert text.startswith(f"{path} has 6 mistakes:")
    for field in ("nmae", "seed", "url", "target.model", "prompt_tokens", "stages[0] never ends"):
        assert field in text


def test_mistakes_of_sets_and_of_the_file_come_together(plan_file):
    with pytest.raises(Refusal) as refusal:
        plan_from_file(plan_file, {"workers": 0}, ["stages[4].seconds=1", "seed=x"])
    assert refusal.value.message.count("\n  - ") == 3


def test_a_key_variable_that_is_not_set_is_named_before_the_run(plan_file, monkeypatch):
    monkeypatch.delenv("HEADWAY_TEST_KEY", raising=False)
    options = {"api_key_env": "HEADWAY_TEST_KEY"}
    with pytest.raises(Refusal, match=r"HEADWAY_TEST_KEY.*export it first"):
        plan_from_file(plan_file, options, [])
    monkeypatch.setenv("HEADWAY_TEST_KEY", "k")
    assert plan_from_file(plan_file, options, []).target.api_key_env == "HEADWAY_TEST_KEY"


def test_keys_of_all_targets_and_files_of_all_parts_are_looked_for_before_the_run(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("HEADWAY_TEST_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.toml"
    path.write_text(
        """
        target = { url = "http://h", model = "m" }
        targets.b = { url = "http://b", model = "m", api_key_env = "HEADWAY_TEST_KEY" }
        classes = [{ name = "a" }, { name = "b", target = "b" }]
        stages = [{ kind = "replay", file = "trace.csv" }]
        """
    )
    with pytest.raises(Refusal) as refusal:
        plan_from_file(path, {}, [])
    told = refusal.value.message
    assert "targets.b.api_key_env is 'HEADWAY_TEST_KEY'; that environment variable" in told
    assert "stages[0].file is 'trace.csv'; there is no such file." in told


@pytest.mark.parametrize("text", ["name = ", "", "[[target]]\nurl='x'"])
def test_a_file_that_holds_no_plan_is_refused_with_its_path(tmp_path, text):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(Refusal, match=r"plan\.toml"):
        plan_from_file(path, {"url": "http://h"}, [])


def test_quick_makes_one_stage_per_concurrency():
    options = {"model": "m", "concurrency": "1, 4,16", "requests": 32, "output_tokens": 64}
    plan = quick_plan("http://h:1/v1", options)
    assert [stage.name for stage in plan.stages] == ["c=1", "c=4", "c=16"]
    assert {stage.requests for stage in plan.stages} == {32}
    assert {stage.seconds for stage in plan.stages} == {None}
    assert plan.workload.output_tokens == 64
    assert plan.name == "quick h"


def test_quick_with_a_rate_is_an_open_poisson_loop_that_ends_by_itself():
    (stage,) = quick_plan("http://h", {"model": "m", "rate": 2.5}).stages
    assert (stage.kind, stage.name, stage.arrivals) == ("open", "2.5/s", "poisson")
    assert stage.seconds


def test_a_concurrency_that_is_no_number_is_named():
    with pytest.raises(Refusal, match=r"stages\[1\]\.concurrency.*'four'"):
        quick_plan("http://h", {"model": "m", "concurrency": "1,four"})
