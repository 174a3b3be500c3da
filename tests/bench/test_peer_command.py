"""A command's whole tree is timed, and none of it outlives the measurement."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from bench.peers import command

pytestmark = pytest.mark.slow

BUSY = "import time\nwhile time.process_time() < {}: pass\n"
# Leaves a child behind that has left the session, as a detached store does.
ORPHAN = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         start_new_session=True)
print(child.pid, flush=True)
time.sleep(1.5)
"""


def python(code: str, folder: Path) -> command.Ended:
    return command.run([sys.executable, "-c", code], folder, dict(os.environ), None)


def test_the_cpu_time_of_a_child_counts_as_the_tools(tmp_path: Path):
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', '''{BUSY.format(2)}'''])"
    ended = python(code, tmp_path)
    assert ended.code == 0
    assert ended.tree.used_s() == pytest.approx(2, rel=0.25)


def test_a_process_left_behind_is_ended(tmp_path: Path):
    ended = python(ORPHAN, tmp_path)
    assert not psutil.pid_exists(int(ended.output))


def test_a_failed_command_keeps_its_last_words(tmp_path: Path):
    ended = python("raise SystemExit('the tokenizer is gone')", tmp_path)
    assert ended.code == 1
    assert "exit code 1" in ended.words
    assert "the tokenizer is gone" in ended.words
