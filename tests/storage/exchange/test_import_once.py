"""Importing twice is importing once, and a killed import leaves nothing or a whole run."""

import json
import os

import pytest
from foreign_files import vllm_result, write, write_lines

from storage.exchange import folder
from storage.exchange.importing import ARCHIVES, Archive, Imported, import_file


def test_the_same_content_under_another_name_is_the_same_run(tmp_path):
    (first,) = import_file(write(tmp_path / "a.json", vllm_result()), tmp_path)
    (again,) = import_file(write(tmp_path / "b.json", vllm_result()), tmp_path)
    assert (first.is_new, again.is_new) == (True, False)
    assert first.run_uid == again.run_uid
    assert again.sentence.endswith("It is already here.")


def test_another_content_is_another_run(tmp_path):
    (first,) = import_file(write(tmp_path / "a.json", vllm_result()), tmp_path)
    (other,) = import_file(write(tmp_path / "a.json", vllm_result(duration=1.5)), tmp_path)
    assert other.is_new
    assert other.run_uid != first.run_uid


def test_lines_appended_later_are_the_only_new_runs(tmp_path):
    path = write_lines(tmp_path / "all.json", [vllm_result()])
    (first,) = import_file(path, tmp_path)
    write_lines(path, [vllm_result(), vllm_result(duration=2.0)])
    before, added = import_file(path, tmp_path)
    assert before.run_uid == first.run_uid
    assert (before.is_new, added.is_new) == (False, True)


@pytest.mark.parametrize("step", ["_run_json", "_status", "_plan"])
def test_an_import_that_breaks_leaves_nothing_and_can_be_repeated(tmp_path, monkeypatch, step):
    path = write(tmp_path / "r.json", vllm_result())

    def broken(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(folder, step, broken)
        with pytest.raises(KeyboardInterrupt):
            import_file(path, tmp_path)
    assert not list(tmp_path.glob("runs/*"))
    assert not (tmp_path / "importing").exists()
    assert import_file(path, tmp_path)[0].is_new


def test_what_a_killed_import_left_is_removed_by_the_next(tmp_path):
    left = tmp_path / "importing" / "5a1d9f0e-0000-0000-0000-000000000000.4194305"  # no such pid
    left.mkdir(parents=True)
    (left / "run.json").write_text("{}")
    mine = tmp_path / "importing" / f"somebody.{os.getpid()}"
    mine.mkdir()
    import_file(write(tmp_path / "r.json", vllm_result()), tmp_path)
    assert not left.exists()
    assert mine.exists()  # its process lives: it may still be writing


def test_an_archive_is_told_by_its_first_bytes(tmp_path, monkeypatch):
    run = Imported("uid", "name", True, "read")
    archive = Archive(lambda head: head.startswith(b"MADEUP"), lambda _path, _data: [run])
    monkeypatch.setitem(ARCHIVES, "made_up", archive)
    (tmp_path / "x.bin").write_bytes(b"MADEUP...")
    assert import_file(tmp_path / "x.bin", tmp_path) == [run]


def test_nothing_of_the_file_but_numbers_and_names_is_kept(tmp_path):
    secret = vllm_result(generated_texts=["my secret"] * 3)
    (found,) = import_file(write(tmp_path / "r.json", secret), tmp_path)
    whole = b"".join(p.read_bytes() for p in (tmp_path / "runs" / found.run_uid).rglob("*.json*"))
    assert b"my secret" not in whole
    assert json.loads((tmp_path / "runs" / found.run_uid / "plan.json").read_bytes())["imported"]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("http://user:word@host:9/v1?key=secret", "http://host:9/v1"),
        ("localhost:9000", "localhost:9000"),
        ("user@host/a@b", "host/a@b"),
    ],
)
def test_no_password_of_an_address_is_kept(tmp_path, told, kept):
    (found,) = import_file(write(tmp_path / "r.json", vllm_result(base_url=told)), tmp_path)
    plan = json.loads((tmp_path / "runs" / found.run_uid / "plan.json").read_bytes())
    assert plan["target"]["url"] == kept
