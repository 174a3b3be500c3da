"""All prompts are built before the clock starts, and it is said how far and by whose count."""

import json

import pytest
from tokenizers_made import save_tokenizer

from loadgen.building import build
from loadgen.plan import PlanError, parse
from loadgen.prompts.material import Ask, load
from loadgen.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "run-1"
    path.mkdir()
    return RunFolder(path)


def plan_of(target=None, **fields):
    stages = [{"concurrency": 1, "requests": 1}]
    return parse(
        {
            "target": {"url": "sim://null", "model": "m", **(target or {})},
            "stages": stages,
            **fields,
        }
    )


def built(plan, folder):
    news: list[tuple[float, str]] = []
    run = {"target_url": "http://127.0.0.1:9"}
    return build(plan, run, folder, lambda share, said: news.append((share, said))), news


def test_the_simulator_counts_words_and_nobody_is_asked(folder):
    plan = plan_of()
    told, news = built(plan, folder)
    assert (told["default"]["counted_by"], told["default"]["off"]) == ("words", (0, 0))
    assert json.loads(json.dumps(told))["default"]["overhead_tokens"] is None
    assert news[-1] == (1.0, "Building prompts: 100%.")
    prompt = load(folder.path, plan).prompt(Ask(0, 0, 0, 256))
    assert len(prompt.text.split()) == 256


def test_a_tokenizer_counts_and_gives_others_their_turn(folder, tmp_path):
    name = str(save_tokenizer(tmp_path / "tokenizer.json"))
    told, news = built(plan_of({"tokenizer": name}), folder)
    assert (told["default"]["counted_by"], told["default"]["off"]) == ("tokenizer", (0, 0))
    assert told["default"]["counter"] == f"the tokenizer {name}"
    assert len(news) > 10
    assert [share for share, _ in news] == sorted(share for share, _ in news)


def test_a_files_prompts_are_counted_kept_and_what_was_left_out_is_said(folder, tmp_path):
    good = {"conversations": [{"from": "human", "value": "one two"}, {"from": "gpt", "value": "x"}]}
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([good] * 450 + [{"conversations": []}] * 3))
    name = str(save_tokenizer(tmp_path / "tokenizer.json"))
    plan = plan_of({"tokenizer": name}, workload={"file": {"path": str(file)}})
    told, news = built(plan, folder)
    assert told["default"] == {
        "counted_by": "tokenizer",
        "file": str(file),
        "prompts": 450,
        "skipped": 3,
        "overhead_tokens": None,
        "note": f"3 broken conversations of {file} were skipped, the first: {file}, item 451 has "
        "no turn of a human.",
    }
    assert any(0.1 < share < 0.9 for share, _ in news)
    prompt = load(folder.path, plan).prompt(Ask(0, 0, 0, 5))
    assert (prompt.text, prompt.tokens, prompt.output_tokens) == ("one two", 2, 1)


def test_without_a_tokenizer_a_files_tokens_are_unknown_unless_words_shall_do(folder, tmp_path):
    file = tmp_path / "prompts.csv"
    file.write_text("prompt\none two\n")
    for by, tokens in (("auto", None), ("words", 2)):
        plan = plan_of(workload={"file": {"path": str(file)}, "count_by": by})
        told, _ = built(plan, folder)
        assert told["default"]["counted_by"] == (by if by == "words" else None)
        assert load(folder.path, plan).prompt(Ask(0, 0, 0, 5)).tokens == tokens
        if tokens is None:
            assert told["default"]["note"].startswith(f"Nobody counted the tokens of {file};")


def test_what_is_wrong_with_the_file_of_one_class_names_that_class(folder, tmp_path):
    file = tmp_path / "prompts.csv"
    file.write_text("text,input\na,b\n")
    chat, batch = {"name": "chat"}, {"name": "batch", "workload": {"file": {"path": str(file)}}}
    with pytest.raises(PlanError) as error:
        built(plan_of(classes=[chat, batch]), folder)
    (said,) = error.value.problems
    assert said.startswith(f"classes[1].workload.file: {file}, line 2 has the columns")
    assert said.endswith("name one as classes[1].workload.file.prompt_column.")


@pytest.mark.parametrize(
    ("stages", "kept"),
    [
        ([{"concurrency": 1, "requests": 10}], 1_000),
        ([{"concurrency": 1, "requests": 10}, {"rate_per_s": 1, "requests": 300}], 1_240),
        ([{"concurrency": 1, "requests": 10}, {"rate_per_s": 1, "seconds": 300}], 2_000),
    ],
)
def test_more_prompts_than_a_plan_can_use_are_not_kept(folder, tmp_path, stages, kept):
    file = tmp_path / "prompts.csv"
    file.write_text("prompt\n" + "hello\n" * 2_000)
    plan = plan_of().model_dump() | {"workload": {"file": {"path": str(file)}}, "stages": stages}
    told, _ = built(parse(plan), folder)
    assert told["default"]["prompts"] == kept
    assert (f"holds more prompts than the {kept:,} first ones" in told["default"]["note"]) == (
        kept < 2_000
    )


def test_a_file_or_a_tokenizer_that_is_no_good_is_a_mistake_of_the_plan(folder, tmp_path):
    missing = {"file": {"path": str(tmp_path / "no")}}
    with pytest.raises(PlanError, match=r"workload\.file: .*no cannot be read: No such file"):
        built(plan_of(workload=missing), folder)
    with pytest.raises(PlanError, match=r"There is no tokenizer .* \(target\.tokenizer\)"):
        built(plan_of({"tokenizer": "/no/such.json"}), folder)
    broken = tmp_path / "talks.json"
    broken.write_text('[{"conversations": []}]')
    with pytest.raises(PlanError, match=r"holds no prompts\. .*item 1 has no turn of a human"):
        built(plan_of(workload={"file": {"path": str(broken)}}), folder)
