"""The files of a plan, found and named anew where they lie on another machine."""

from loadgen.machines.plan_files import files_of, read_from, with_files_at


def plan_with(tmp_path):
    for name in ("ca.pem", "prompts.jsonl", "trace.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "tok").mkdir()
    (tmp_path / "tok" / "tokenizer.json").write_text("{}")
    prompts = {"file": {"path": f"{tmp_path}/prompts.jsonl", "format": "auto"}}
    return {
        "target": {"url": "http://x/v1", "ca_file": f"{tmp_path}/ca.pem", "tokenizer": "org/model"},
        "targets": {"b": {"url": "http://y", "tokenizer": f"{tmp_path}/tok"}},
        "workload": prompts | {"extra_body": {"file": f"{tmp_path}/ca.pem"}},
        "classes": [{"name": "a", "workload": prompts}],
        "stages": [{"kind": "replay", "file": f"{tmp_path}/trace.csv"}],
    }


def test_every_file_is_found_once_and_a_hub_name_is_none(tmp_path):
    found = files_of(plan_with(tmp_path))
    names = ["ca.pem", "tok", "prompts.jsonl", "trace.csv"]
    assert found == [f"{tmp_path}/{name}" for name in names]


def test_a_tokenizers_folder_stands_for_the_file_in_it(tmp_path):
    plan_with(tmp_path)
    assert read_from(f"{tmp_path}/tok").name == "tokenizer.json"


def test_the_plan_there_names_its_own_copies_and_nothing_else_changes(tmp_path):
    plan = plan_with(tmp_path)
    there = with_files_at(plan, {path: f"/there/{i}" for i, path in enumerate(files_of(plan))})
    assert there["target"]["ca_file"] == "/there/0"
    assert there["target"]["tokenizer"] == "org/model"
    assert there["targets"]["b"]["tokenizer"] == "/there/1"
    assert there["classes"][0]["workload"]["file"]["path"] == "/there/2"
    assert there["stages"][0]["file"] == "/there/3"
    assert there["workload"]["extra_body"] == plan["workload"]["extra_body"]
    assert plan == plan_with_again(tmp_path)


def plan_with_again(tmp_path):
    (tmp_path / "tok" / "tokenizer.json").unlink()
    (tmp_path / "tok").rmdir()
    return plan_with(tmp_path)
