"""`headway import`: what it says, with which exit code, and that twice is once."""

import zipfile

import pytest
from click.testing import CliRunner

from cli import main
from tests.run_headway import end_store
from tests.storage.exchange import foreign_files as made_up

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    """The command in this process, on one data folder."""
    data = tmp_path_factory.mktemp("data")
    runner = CliRunner(env={"HEADWAY_DATA": str(data)})
    yield lambda *words: runner.invoke(main, [str(word) for word in words])
    end_store(data)


def test_a_file_becomes_a_run_that_can_be_asked_for_at_once(headway, tmp_path):
    path = made_up.write(tmp_path / "r.json", made_up.vllm_result())
    first = headway("import", path)
    assert first.exit_code == 0
    assert "r.json: vLLM bench (current schema): 3 requests, 1 failed." in first.output
    shown = headway("show", "last")
    assert "made-up-8b c=2" in shown.output
    again = headway("import", path)
    assert again.exit_code == 0
    assert "It is already here." in again.output


def test_of_a_folder_every_result_file_is_read_and_the_rest_left_alone(headway, tmp_path):
    made_up.write(tmp_path / "a.json", made_up.guidellm_old())
    made_up.write_lines(tmp_path / "b.jsonl", [made_up.sglang_result(duration=2.0)])
    (tmp_path / "notes.txt").write_text("not a result")
    told = headway("import", tmp_path)
    assert told.exit_code == 0
    assert "a.json: GuideLLM 0.2 schema" in told.output
    assert "b.jsonl: SGLang 0.0.1" in told.output
    assert "notes.txt" not in told.output


def test_an_odd_file_leaves_with_2_and_the_others_are_read(headway, tmp_path):
    odd = made_up.write(tmp_path / "odd.json", made_up.vllm_result(ttfts=[0.1]))
    good = made_up.write(tmp_path / "good.json", made_up.llmperf_summary())
    told = headway("import", odd, good)
    assert told.exit_code == 2
    assert "odd.json: input_lens has 3 entries, and ttfts has 1" in told.output
    assert "good.json: llmperf" in told.output


def test_nothing_to_read_leaves_with_2(headway, tmp_path):
    assert headway("import", tmp_path / "missing.json").exit_code == 2
    empty = headway("import", tmp_path)
    assert empty.exit_code == 2
    assert "There is no result file in" in empty.output
    assert "docs/traces.md" in empty.output


def test_names_of_others_cannot_drive_the_terminal(headway, tmp_path):
    hostile = "\x1b[2Jred\nrun 0000: forged" + "x" * 5000
    odd = made_up.vllm_result(label=hostile, model_id=hostile)
    told = headway("import", made_up.write(tmp_path / "h.json", odd))
    assert told.exit_code == 0
    assert told.output.replace("\n", "").isprintable()
    assert len(told.output.splitlines()) == 2
    assert max(map(len, told.output.splitlines())) < 2100
    gone = headway("db", "drop-raw", "last")
    assert gone.exit_code == 0
    assert "\x1b" not in gone.output
    again = headway("import", tmp_path / "h.json")
    assert "It is already here. Its token events were removed on 20" in again.output
    out = tmp_path / "out.zip"
    sent = headway("export", "last", "--format", "zip", "--out", out)
    assert "token events were removed on 20" in sent.output
    assert "(The run's token events were removed on 20" in text_in(out, "README.txt")
    assert "another tool measured (vLLM bench)" in imported_elsewhere(out, tmp_path).output
    assert (
        headway("export", "last", "--format", "zip", "--out", tmp_path / "no" / "x").exit_code == 2
    )


def text_in(path, name):
    with zipfile.ZipFile(path) as packed:
        return packed.read(name).decode()


def imported_elsewhere(path, tmp_path):
    data = tmp_path / "elsewhere"
    try:
        return CliRunner(env={"HEADWAY_DATA": str(data)}).invoke(main, ["import", str(path)])
    finally:
        end_store(data)
