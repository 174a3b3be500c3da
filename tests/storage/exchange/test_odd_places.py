"""What is no regular file of a sensible size, and text with a mark before it."""

import codecs
import json
import os

import pytest
from foreign_files import vllm_result, write_lines

from storage.exchange import source
from storage.exchange.importing import import_file
from storage.exchange.source import ImportProblem, load


def test_a_byte_order_mark_changes_nothing(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(codecs.BOM_UTF8 + json.dumps(vllm_result()).encode())
    (found,) = import_file(path, tmp_path / "data")
    assert found.is_new
    lines = write_lines(tmp_path / "x.jsonl", [vllm_result(), vllm_result()])
    lines.write_bytes(codecs.BOM_UTF8 + lines.read_bytes())
    assert len(load(lines).objects) == 2


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(ImportProblem, match=r"x\.json is a pipe; only regular files are read"):
        import_file(tmp_path / "x.json", tmp_path / "data")


def test_a_device_is_refused(tmp_path):
    with pytest.raises(ImportProblem, match="/dev/zero is a device; only regular files are read"):
        import_file(source.Path("/dev/zero"), tmp_path / "data")


def test_a_file_too_large_to_be_read_at_once_is_refused_unread(tmp_path):
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate(source.MOST_BYTES + 1)  # a hole: it takes no room
    with pytest.raises(ImportProblem, match=r"x\.json has 2\.0 GiB; files of up to 2 GiB are read"):
        import_file(path, tmp_path / "data")


def test_a_character_cut_by_the_look_at_the_head_is_still_text(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "_HEAD_BYTES", 3)
    path = tmp_path / "x.json"
    path.write_bytes('{"ä": 1}'.encode())
    assert load(path).document == {"ä": 1}
