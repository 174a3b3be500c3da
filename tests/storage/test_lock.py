"""One process owns a data folder; others learn who, and leftovers of a dead one do no harm."""

import os
import socket
import subprocess
import sys

import orjson
import pytest

from storage.lock import NAME, default_socket, is_held, make_folder, read_holder, take
from storage.protocol import StoreError


def test_a_lock_is_held_until_it_is_released(tmp_path):
    assert not is_held(tmp_path)
    lock = take(tmp_path)
    assert lock
    assert is_held(tmp_path)
    assert take(tmp_path, within_s=0) is None
    lock.release()
    assert not is_held(tmp_path)


def test_the_holder_tells_its_process_host_command_and_socket(tmp_path):
    lock = take(tmp_path)
    assert lock
    lock.tell()
    holder = read_holder(tmp_path)
    assert holder
    assert (holder.pid, holder.socket) == (os.getpid(), str(default_socket(tmp_path)))
    assert holder.host == socket.gethostname()
    assert not holder.is_elsewhere
    assert f"process {os.getpid()} on" in str(holder)
    lock.release()


def test_asking_who_holds_the_lock_does_not_take_it(tmp_path):
    lock = take(tmp_path)
    assert lock
    for _ in range(3):
        assert is_held(tmp_path)
        read_holder(tmp_path)
    assert take(tmp_path, within_s=0) is None
    lock.release()


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_free_and_its_socket_is_removed(tmp_path):
    code = (
        "import sys, pathlib, os\nfrom storage.lock import take\n"
        "lock = take(pathlib.Path(sys.argv[1])); lock.tell()\n"
        "pathlib.Path(lock.socket).touch(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert default_socket(tmp_path).exists()
    assert not is_held(tmp_path)
    lock = take(tmp_path)
    assert lock
    assert not default_socket(tmp_path).exists()
    lock.release()


def test_a_path_too_long_for_a_socket_gets_one_in_a_private_temporary_folder(tmp_path):
    data = tmp_path / ("long" * 30)
    data.mkdir()
    lock = take(data)
    assert lock
    lock.tell()
    folder = os.path.dirname(lock.socket)
    assert len(lock.socket) < 104
    assert os.stat(folder).st_mode & 0o777 == 0o700
    holder = read_holder(data)
    assert holder
    assert holder.socket == lock.socket
    lock.release()
    assert not os.path.exists(folder)


def test_a_lock_file_with_nothing_readable_names_nobody(tmp_path):
    assert read_holder(tmp_path) is None
    for raw in (b"", b"{", orjson.dumps({"pid": 1})):
        (tmp_path / NAME).write_bytes(raw)
        assert read_holder(tmp_path) is None


def test_a_lock_whose_folder_was_removed_is_no_longer_ours(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    lock = take(data)
    assert lock
    assert lock.is_ours()
    (data / NAME).unlink()
    assert not lock.is_ours()
    (data / NAME).touch()
    assert not lock.is_ours()
    lock.release()


@pytest.mark.parametrize("name", ["file/data", "file"])
def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be written .* set HEADWAY_DATA"):
        make_folder(tmp_path / name)
