"""Files that a plan names beside the user are found by processes that work elsewhere."""

from pathlib import Path

from loadgen.plan import Plan, parse
from loadgen.plan_paths import missing_files, with_whole_paths


def plan_with(**target: str) -> Plan:
    raw = {"url": "https://host/v1", "model": "m", **target}
    return parse({"target": raw, "stages": [{"concurrency": 1, "requests": 1}]})


def test_files_are_named_from_the_root(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    target = with_whole_paths(plan_with(ca_file="ca.pem", tokenizer="tokenizer.json")).target
    assert target.ca_file == str(tmp_path / "ca.pem")
    assert target.tokenizer == str(tmp_path / "tokenizer.json")


def test_a_hub_name_and_a_plan_without_files_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_with(tokenizer="org/model")
    assert with_whole_paths(plan) is plan
    assert with_whole_paths(plan_with()).target.tokenizer is None


def test_a_home_folder_may_be_written_short():
    target = with_whole_paths(plan_with(ca_file="~/ca.pem")).target
    assert target.ca_file == str(Path.home() / "ca.pem")


LENGTHS = {"kind": "file", "path": "lengths.csv"}
EVERYWHERE = {
    "target": {"url": "https://h", "model": "m"},
    "targets": {"b": {"url": "https://h", "model": "m", "ca_file": "b.pem"}},
    "classes": [
        {"name": "a", "workload": {"file": {"path": "prompts.jsonl"}, "output_tokens": LENGTHS}},
        {"name": "b", "target": "b", "workload": {"extra_body": {"file": "theirs", "path": "x"}}},
    ],
    "stages": [
        {"kind": "replay", "file": "trace.csv"},
        {"rate_per_s": {"shape": "table", "file": "load.csv"}, "seconds": 9},
    ],
}
FILES = {
    "targets.b.ca_file": "b.pem",
    "classes[0].workload.file.path": "prompts.jsonl",
    "classes[0].workload.output_tokens.path": "lengths.csv",
    "stages[0].file": "trace.csv",
    "stages[1].rate_per_s.file": "load.csv",
}


def test_files_of_every_part_are_named_from_the_root_but_not_those_of_a_request(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    plan = with_whole_paths(parse(EVERYWHERE))
    for name in FILES.values():
        assert str(tmp_path / name) in plan.to_json().decode()
    assert plan.classes[1].workload.extra_body == {"file": "theirs", "path": "x"}


def test_every_file_that_is_not_there_is_named_with_its_field(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = missing_files(parse(EVERYWHERE))
    assert set(told) == {f"{at} is {name!r}; there is no such file." for at, name in FILES.items()}
    for name in FILES.values():
        (tmp_path / name).touch()
    assert missing_files(parse(EVERYWHERE)) == []
