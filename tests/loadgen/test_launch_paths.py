"""Files that a plan names beside the user are found by processes that work elsewhere."""

from pathlib import Path

from loadgen.launch import with_whole_paths
from loadgen.plan import Plan, parse


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
